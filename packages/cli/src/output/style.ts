/** Colours, where the reader has them. */

export type Tone = 'good' | 'bad' | 'warning' | 'quiet' | 'strong' | 'plain';

/** What turns a format on and off: green, red, yellow, grey, bold. */
const format = {
  good: [32, 39],
  bad: [31, 39],
  warning: [33, 39],
  quiet: [90, 39],
  strong: [1, 22],
} as const;

/** What `painter` writes; as a group, so that `split` keeps them. */
// oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
export const ownCodes = /(\u001b\[(?:1|22|3[1239]|39|90)m)/;

export type Paint = (tone: Tone, text: string) => string;

export function painter(colours: boolean): Paint {
  return (tone, text) => {
    if (!colours || tone === 'plain' || text === '') return text;
    const [on, off] = format[tone];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}

export function wantsColours(
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
  noColor: boolean,
): boolean {
  if (noColor || (env['NO_COLOR'] ?? '') !== '') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '') return env['FORCE_COLOR'] !== '0';
  return isTty && env['TERM'] !== 'dumb';
}

// oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
const escapes = /\u001b\[[0-9;]*m/g;

/** Columns that a text takes on the screen. */
export const width = (text: string): number => Array.from(text.replaceAll(escapes, '')).length;

/** Cuts at so many columns, with an ellipsis, and never inside an escape code. */
export function clip(text: string, columns: number): string {
  if (width(text) <= columns || columns < 2) return text;
  let shown = 0;
  let result = '';
  // oxlint-disable-next-line no-control-regex -- as above
  for (const piece of text.split(/(\u001b\[[0-9;]*m)/)) {
    if (piece.startsWith('\u001b')) {
      result += piece;
      continue;
    }
    for (const letter of piece) {
      if (shown >= columns - 1) continue;
      result += letter;
      shown += 1;
    }
  }
  // oxlint-disable-next-line no-control-regex -- as above
  return result.replace(/((?:\u001b\[[0-9;]*m)*)$/, '…$1');
}

/** Text in lines of so many columns, broken at spaces. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && width(line) + 1 + width(word) > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
