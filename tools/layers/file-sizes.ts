/** Lines per file, summarized by package. Pure. */

export interface SizeSummary {
  readonly files: number;
  readonly median: number;
  readonly p90: number;
  readonly max: number;
  /** Share of files with fewer than 30 lines, in percent with one decimal. */
  readonly percentBelow30: number;
}

/** By package or top-level folder, sorted by name; `all` is last. */
export function fileSizes(lines: ReadonlyMap<string, number>): [name: string, summary: SizeSummary][] {
  const groups = Map.groupBy(lines, ([file]) => {
    const [first = '', second = ''] = file.split('/');
    return first === 'packages' ? `${first}/${second}` : first;
  });
  const rows = [...groups].map(([name, entries]): [string, SizeSummary] => [
    name,
    summarize(entries.map(([, count]) => count)),
  ]);
  return [...rows.toSorted(([a], [b]) => (a < b ? -1 : 1)), ['all', summarize([...lines.values()])]];
}

function summarize(counts: readonly number[]): SizeSummary {
  const sorted = counts.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const small = sorted.filter((count) => count < 30).length;
  return {
    files: sorted.length,
    median: at(0.5),
    p90: at(0.9),
    max: at(1),
    percentBelow30: sorted.length === 0 ? 0 : Math.round((1000 * small) / sorted.length) / 10,
  };
}
