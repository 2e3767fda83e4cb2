/** The Account controller: an account in the accounting database has the fields and members that an object names. */
import { accounts } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Reconcile,
  type ReconcilerManager,
} from '../../framework/define-reconciler.ts';
import type { AccountingBatches } from '../../slurm-connection/accounting-batches.ts';
import type { AccountingRows } from '../../slurm-connection/accounting-rows.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import { AccountActor } from './act.ts';
import { accountName } from './fields.ts';
import { AccountObserver } from './observe.ts';
import { planAccount } from './plan.ts';
import { type AccountOutcome, accountEvents, accountStatus } from './status.ts';

export interface AccountOptions {
  readonly pool: Pick<ConnectionPool, 'get'>;
  readonly rows: AccountingRows;
  readonly batches: AccountingBatches;
  readonly assertMayWrite?: (() => void) | undefined;
}

/** After a write the rows are read again, and what Slurm refused is tried again. */
const afterWrite = 1_000;
const afterFailure = 5_000;

export function accountReconciler(
  manager: ReconcilerManager,
  { pool, rows, batches, assertMayWrite }: AccountOptions,
): Reconcile {
  const observer = new AccountObserver(manager.cache, pool, rows);
  const actor = new AccountActor({ client: manager.client, observer, rows, batches, assertMayWrite });
  return defineReconciler(manager, {
    resource: accounts,
    finalizes: true,
    observe: (account) => observer.observe(account),
    plan: planAccount,
    act: (action, acting) => actor.act(action, acting),
    status: accountStatus,
    events: accountEvents,
    report: ({ plan: { write }, observed, succeeded, notes }, log) => {
      if (write !== undefined && succeeded(write) && notes.length === 0)
        log.info(
          { object: observed.account.metadata.name, rows: write.rows.length },
          `wrote account ${accountName(observed.account)}`,
        );
    },
    lookAgainAt,
  });
}

function lookAgainAt({ plan, notes, now, problems }: AccountOutcome): number | undefined {
  if (notes.length > 0) return notes.some(({ problem }) => problem !== undefined) ? now + afterFailure : now;
  const isUnknown = problems.some(({ reason }) => reason === 'DatabaseUnknown');
  if (plan.write !== undefined || plan.removal !== undefined) return now + afterWrite;
  return isUnknown ? now + afterFailure : plan.lookAgainAt;
}
