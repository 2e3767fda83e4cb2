/** Counts outcomes by topic, set and weight, and says them in lines. */
import { type RecordedCase, topicOf } from './case.ts';
import { setOf } from './case-groups.ts';
import type { Outcome } from './cluster-run.ts';
import { weightOf } from './weights.ts';

type Counts = Record<Outcome['result'], number>;

export class Tally {
  readonly #counts = new Map<string, Counts>();
  readonly #reasons = new Map<string, number>();

  add(recorded: RecordedCase, outcome: Outcome): void {
    const set = setOf(recorded);
    const weight = set === 'second' ? ` weight ${weightOf(recorded) ?? 'none'}` : undefined;
    const keys = [
      'all',
      topicOf(recorded),
      `${set} set`,
      ...(weight === undefined ? [] : [`${set} set,${weight}`]),
    ];
    for (const key of keys) {
      const counts = this.#counts.get(key) ?? { passed: 0, failed: 0, 'known difference': 0, 'not run': 0 };
      this.#counts.set(key, counts);
      counts[outcome.result] += 1;
    }
    if (outcome.result === 'not run')
      this.#reasons.set(outcome.why, (this.#reasons.get(outcome.why) ?? 0) + 1);
  }

  /** Topics, then sets, then weights of the second set, then why cases were not run. */
  lines(): string[] {
    const keys = [...this.#counts.keys()];
    const rank = (key: string) =>
      key === 'all' ? 3 : key.includes('weight') ? 2 : key.endsWith(' set') ? 1 : 0;
    const ordered = keys.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    const reasons = [...this.#reasons].toSorted(([, a], [, b]) => b - a);
    return [
      ...ordered.map((key) => `${key}: ${said(this.#counts.get(key))}`),
      ...reasons.map(([why, count]) => `not run, ${count}: ${why}`),
    ];
  }
}

function said(counts: Counts | undefined): string {
  const { passed = 0, failed = 0, 'known difference': known = 0, 'not run': notRun = 0 } = counts ?? {};
  return [
    `${passed} passed`,
    `${failed} failed`,
    ...(known === 0 ? [] : [`${known} named differences`]),
    ...(notRun === 0 ? [] : [`${notRun} not run`]),
  ].join(', ');
}
