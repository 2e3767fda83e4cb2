/** Tables: columns as wide as their content; the last one is cut where a terminal ends. */
import { printable } from '@slurm-operator/advice';
import { clip, type Paint, type Tone, width } from './style.ts';

export interface Column<Row> {
  readonly name: string;
  readonly value: (row: Row) => string;
  readonly tone?: (row: Row) => Tone;
  /** Only with -o wide. */
  readonly wide?: boolean;
  /** Numbers are aligned to the right. */
  readonly right?: boolean;
}

export interface TableOptions {
  readonly paint: Paint;
  readonly wide?: boolean;
  readonly headers?: boolean;
  /** Of a terminal; longer lines are cut. */
  readonly columns?: number | undefined;
}

/** Cells are plain text; whatever is in them stays on its line. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions,
): string {
  const { paint, wide = false, headers = true } = options;
  // A column without any value says nothing.
  const shown = columns.filter(
    (column) =>
      (wide || column.wide !== true) && (rows.length === 0 || rows.some((row) => column.value(row) !== '')),
  );
  const cells = rows.map((row) =>
    shown.map((column) => ({
      text: printable(column.value(row)),
      tone: column.tone?.(row) ?? ('plain' as const),
    })),
  );
  const widths = shown.map(({ name }, index) =>
    Math.max(headers ? name.length : 0, ...cells.map((row) => width(row[index]?.text ?? ''))),
  );
  const line = (texts: readonly { text: string; tone: Tone }[]) => {
    const parts = texts.map(({ text, tone }, index) => {
      const space = ' '.repeat(Math.max(0, (widths[index] ?? 0) - width(text)));
      const painted = paint(tone, text);
      return shown[index]?.right === true ? space + painted : painted + space;
    });
    const whole = parts.join('   ').trimEnd();
    return options.columns === undefined ? whole : clip(whole, options.columns);
  };
  const head = line(shown.map(({ name }) => ({ text: name, tone: 'quiet' })));
  return [...(headers ? [head] : []), ...cells.map(line)].map((each) => `${each}\n`).join('');
}
