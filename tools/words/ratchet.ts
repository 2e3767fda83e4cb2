/** Compares how often listed words occur with the committed counts, which may only fall. Pure. */
import { areaOf, type Finding } from './scan-repository.ts';

/** Area → word → how often. `visible <area>` counts what users read. A word that is missing does not occur. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

const keyOf = (finding: Finding) => `${finding.isVisible ? 'visible ' : ''}${areaOf(finding.file)}`;

export function countFindings(findings: readonly Finding[]): Counts {
  const areas: Record<string, Record<string, number>> = {};
  const names = new Set<string>();
  for (const finding of findings) {
    const name = `${areaOf(finding.file)} ${finding.word} ${finding.name}`;
    if (finding.name !== undefined && names.has(name)) continue;
    names.add(name);
    const words = (areas[keyOf(finding)] ??= {});
    words[finding.word] = (words[finding.word] ?? 0) + 1;
  }
  return sorted(areas);
}

/**
 * Findings of every word that now occurs more often than committed, in the areas where it rose. A word may move from one area to
 * another.
 */
export function risenFindings(findings: readonly Finding[], committed: Counts): Finding[] {
  const counts = countFindings(findings);
  const now = totalsOf(counts);
  const before = totalsOf(committed);
  return findings.filter((finding) => {
    const key = totalKey(finding.isVisible, finding.word);
    const area = keyOf(finding);
    return (
      (now.get(key) ?? 0) > (before.get(key) ?? 0) &&
      (counts[area]?.[finding.word] ?? 0) > (committed[area]?.[finding.word] ?? 0)
    );
  });
}

/** Over all areas: how often a word occurs in what users read, and elsewhere. */
function totalsOf(counts: Counts): Map<string, number> {
  const totals = new Map<string, number>();
  for (const [area, words] of Object.entries(counts))
    for (const [word, count] of Object.entries(words)) {
      const key = totalKey(area.startsWith('visible '), word);
      totals.set(key, (totals.get(key) ?? 0) + count);
    }
  return totals;
}

const totalKey = (isVisible: boolean, word: string) => `${isVisible ? 'visible' : 'other'} ${word}`;

export function total(words: Readonly<Record<string, number>> = {}): number {
  return Object.values(words).reduce((sum, count) => sum + count, 0);
}

function sorted(areas: Counts): Counts {
  const byName = <V>(record: Readonly<Record<string, V>>): Record<string, V> =>
    Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return byName(Object.fromEntries(Object.entries(areas).map(([area, words]) => [area, byName(words)])));
}
