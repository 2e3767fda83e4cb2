/** Conditions in the words of the documented list. Pure. */
import { conditionType, type Reason } from '@slurm-operator/api';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: Reason;
  readonly message: string;
}

/** Why something is not as it should be. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
  /** Temporary: reported as progress, not as Degraded. */
  readonly passing?: boolean;
  /** It is wrong, but what is there goes on working. */
  readonly stillReady?: boolean;
}

/** Ready, Progressing and Degraded of an object that has these problems, the most important first. */
export function summaryConditions(problems: readonly Problem[], well: string): Condition[] {
  const worst = problems.find(({ stillReady }) => stillReady !== true);
  const lasting = problems.find(({ passing }) => passing !== true);
  const passing = problems.find((problem) => problem.passing === true);
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
