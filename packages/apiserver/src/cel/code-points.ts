/** The language counts strings in code points, not in UTF-16 units. */
export function codePoints(text: string): string[] {
  return Array.from(text);
}
