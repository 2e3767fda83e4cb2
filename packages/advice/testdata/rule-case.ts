/** How a rule is made to happen: what differs from a healthy cluster, and what the finding says. */
import type { KnownValues } from '../testing/index.ts';

export interface RuleCase {
  readonly rule: string;
  readonly reason: string;
  readonly values: KnownValues;
  readonly says: RegExp;
  readonly because?: RegExp;
  readonly fix?: RegExp;
  /** The diagnosis is about this job. */
  readonly job?: number;
}
