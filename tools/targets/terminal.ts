/** Terminal output of the make targets: colour where the terminal supports it, readable durations, tables. */

const colourWanted =
  process.env['NO_COLOR'] === undefined && (process.stdout.isTTY || process.env['FORCE_COLOR'] !== undefined);

const paint = (code: number) => (text: string) => (colourWanted ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const yellow = paint(33);

export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** Rows as aligned lines: the first column as wide as its longest cell, numbers right-aligned below their titles. */
export function table(
  titles: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): { readonly head: string; readonly lines: readonly string[] } {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => String(row[column] ?? '').length)),
  );
  const line = (cells: readonly (string | number)[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? String(cell).padEnd(width) : String(cell).padStart(width);
      })
      .join('  ');
  return { head: line(titles), lines: rows.map(line) };
}
