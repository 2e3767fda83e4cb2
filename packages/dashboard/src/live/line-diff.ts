/** Which lines of a text differ from another one. Pure. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** The table of longer texts would be too large; then lines are compared as sets. */
const mostCells = 4_000_000;

/** The changed lines, in order, with up to `around` equal ones beside each. Empty where nothing differs. */
export function diffLines(before: string, after: string, around = 2): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const all = a.length * b.length > mostCells ? bySet(a, b) : byOrder(a, b);
  const shown = new Set<number>();
  all.forEach(({ kind }, at) => {
    if (kind === 'same') return;
    for (let near = at - around; near <= at + around; near += 1) shown.add(near);
  });
  return all.filter((_, at) => shown.has(at));
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.trimEnd().split('\n'));

function byOrder(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const width = b.length + 1;
  // The length of the longest common part of what follows line i of one and line j of the other.
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      common[i * width + j] =
        a[i] === b[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (
      i < a.length &&
      (j >= b.length || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      lines.push({ kind: 'removed', text: a[i] ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: b[j] ?? '' });
      j += 1;
    }
  }
  return lines;
}

function bySet(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const [inA, inB] = [new Set(a), new Set(b)];
  return [
    ...a.filter((text) => !inB.has(text)).map((text) => ({ kind: 'removed', text }) as const),
    ...b.filter((text) => !inA.has(text)).map((text) => ({ kind: 'added', text }) as const),
  ];
}
