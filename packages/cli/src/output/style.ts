/** Colours, where the reader has them. */
import { styleText } from 'node:util';

export type Tone = 'good' | 'bad' | 'warning' | 'quiet' | 'strong' | 'plain';

const format = { good: 'green', bad: 'red', warning: 'yellow', quiet: 'gray', strong: 'bold' } as const;

/** What `styleText` writes for these formats; as a group, so that `split` keeps them. */
// oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
export const ownCodes = /(\u001b\[(?:1|22|3[1239]|39|90)m)/;

export type Paint = (tone: Tone, text: string) => string;

export function painter(colours: boolean): Paint {
  return (tone, text) =>
    !colours || tone === 'plain' || text === ''
      ? text
      : styleText(format[tone], text, { validateStream: false });
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
