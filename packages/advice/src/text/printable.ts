/** Names, reasons and messages that others wrote, safe to show: no control character of theirs reaches a terminal or a page. */

// C0, DEL and C1 control characters; marks that reverse the direction of text or end lines.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const unsafe = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/g;

/** On one line, with every control character written out, such as `\x1b`. */
export function printable(text: string): string {
  return text.replaceAll(unsafe, (letter) => {
    if (letter === '\n' || letter === '\t' || letter === '\r') return ' ';
    return written(letter);
  });
}

/** The same for text of several lines: line feeds and tabs stay. */
export const printableLines = (text: string): string =>
  text.replaceAll(unsafe, (letter) => (letter === '\n' || letter === '\t' ? letter : written(letter)));

function written(letter: string): string {
  const code = letter.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
}
