/** The QualityOfService controller: a QOS in the accounting database has the fields that an object names. */
import { qualitiesOfService } from '../../cache/resources.ts';
import {
  defineReconciler,
  type Reconcile,
  type ReconcilerManager,
} from '../../framework/define-reconciler.ts';
import type { AccountingBatches } from '../../slurm-connection/accounting-batches.ts';
import type { AccountingRows } from '../../slurm-connection/accounting-rows.ts';
import type { ConnectionPool } from '../../slurm-connection/pool.ts';
import { QosActor } from './act.ts';
import { QosObserver } from './observe.ts';
import { planQos } from './plan.ts';
import { type QosOutcome, qosEvents, qosStatus } from './status.ts';

export interface QosOptions {
  readonly pool: Pick<ConnectionPool, 'get'>;
  readonly rows: AccountingRows;
  readonly batches: AccountingBatches;
  readonly assertMayWrite?: (() => void) | undefined;
}

/** After a write the row is read again, and what Slurm refused is tried again. */
const afterWrite = 1_000;
const afterFailure = 5_000;

export function qosReconciler(
  manager: ReconcilerManager,
  { pool, rows, batches, assertMayWrite }: QosOptions,
): Reconcile {
  const observer = new QosObserver(manager.cache, pool, rows);
  const actor = new QosActor({ client: manager.client, observer, rows, batches, assertMayWrite });
  return defineReconciler(manager, {
    resource: qualitiesOfService,
    finalizes: true,
    observe: (qos) => observer.observe(qos),
    plan: planQos,
    act: (action, acting) => actor.act(action, acting),
    status: qosStatus,
    events: qosEvents,
    report: ({ plan: { write }, observed, succeeded, notes }, log) => {
      if (write !== undefined && succeeded(write) && notes.length === 0)
        log.info({ object: observed.qos.metadata.name }, `wrote ${write.title}`);
    },
    lookAgainAt,
  });
}

function lookAgainAt({ plan, notes, now, problems }: QosOutcome): number | undefined {
  if (notes.length > 0) return notes.some(({ problem }) => problem !== undefined) ? now + afterFailure : now;
  const isUnknown = problems.some(({ reason }) => reason === 'DatabaseUnknown');
  if (plan.write !== undefined) return now + afterWrite;
  return isUnknown ? now + afterFailure : plan.lookAgainAt;
}
