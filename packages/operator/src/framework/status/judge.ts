/** Conditions in the words of the documented list. Pure. */
import { conditionType, type Reason } from '@slurm-operator/api';

export interface Verdict {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
}

/** Why something is not as it should be. */
export interface Trouble {
  readonly reason: Reason;
  readonly message: string;
  /** It passes by itself: progress rather than damage. */
  readonly passing?: boolean;
  /** It is wrong, but what is there goes on working. */
  readonly stillReady?: boolean;
}

/** Ready, Progressing and Degraded of an object that has these troubles, the most important first. */
export function verdicts(troubles: readonly Trouble[], well: string): Verdict[] {
  const worst = troubles.find(({ stillReady }) => stillReady !== true);
  const lasting = troubles.find(({ passing }) => passing !== true);
  const passing = troubles.find((trouble) => trouble.passing === true);
  return [
    worst === undefined
      ? { type: conditionType.ready, status: 'True', reason: 'Ready', message: well }
      : { type: conditionType.ready, status: 'False', reason: worst.reason, message: worst.message },
    passing === undefined
      ? {
          type: conditionType.progressing,
          status: 'False',
          reason: 'Idle',
          message: 'Nothing is in progress.',
        }
      : {
          type: conditionType.progressing,
          status: 'True',
          reason: passing.reason,
          message: passing.message,
        },
    lasting === undefined
      ? { type: conditionType.degraded, status: 'False', reason: 'AsExpected', message: 'Nothing is wrong.' }
      : {
          type: conditionType.degraded,
          status: 'True',
          reason: lasting.reason,
          message: lasting.message,
        },
  ];
}
