/** A unified diff of two texts, as refusals of immutable specs show it: three lines of context, no file header. */

const CONTEXT = 3;

type Line = { readonly mark: ' ' | '-' | '+'; readonly text: string };

export function unifiedDiff(before: string, after: string): string {
  const lines = diffLines(before.split('\n'), after.split('\n'));
  return hunksOf(lines)
    .map(({ from, to }) => renderHunk(lines, from, to))
    .join('');
}

/** Longest common subsequence; the texts are a few hundred lines, so the quadratic table is fine. */
function diffLines(a: readonly string[], b: readonly string[]): Line[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const left = a.slice(head, a.length - tail);
  const right = b.slice(head, b.length - tail);
  const same = (texts: readonly string[]): Line[] => texts.map((text) => ({ mark: ' ', text }));
  return [...same(a.slice(0, head)), ...diffMiddle(left, right), ...same(a.slice(a.length - tail))];
}

function diffMiddle(a: readonly string[], b: readonly string[]): Line[] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: '-', text: a[i] ?? '' });
      i += 1;
    } else {
      lines.push({ mark: '+', text: b[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}

function hunksOf(lines: readonly Line[]): { from: number; to: number }[] {
  const hunks: { from: number; to: number }[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.mark === ' ') continue;
    const from = Math.max(0, index - CONTEXT);
    const to = Math.min(lines.length, index + CONTEXT + 1);
    const last = hunks.at(-1);
    if (last && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  }
  return hunks;
}

function renderHunk(lines: readonly Line[], from: number, to: number): string {
  const before = lines.slice(0, from);
  const body = lines.slice(from, to);
  const count = (list: readonly Line[], other: '-' | '+') =>
    list.filter((line) => line.mark !== other).length;
  const range = (start: number, length: number) => `${length === 0 ? start - 1 : start},${length}`;
  const oldRange = range(count(before, '+') + 1, count(body, '+'));
  const newRange = range(count(before, '-') + 1, count(body, '-'));
  return `@@ -${oldRange} +${newRange} @@\n${body.map((line) => `${line.mark}${line.text}\n`).join('')}`;
}
