/** Carries out what a plan asks for in the accounting database. */
import { isDeepStrictEqual } from 'node:util';
import { finalizer, type QualityOfService } from '@slurm-operator/api';
import { addFinalizer, type Client, removeFinalizer } from '@slurm-operator/kube';
import { hasEnded, type SlurmClient, SlurmError } from '@slurm-operator/slurm';
import { qualitiesOfService } from '../../cache/resources.ts';
import { appliedBefore } from '../../declared/decide.ts';
import { readApplied, writeApplied } from '../../declared/stored.ts';
import type { Acting } from '../../framework/define-reconciler.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { recordStatus } from '../../framework/status/write-status.ts';
import type { AccountingBatches } from '../../slurm-connection/accounting-batches.ts';
import type { AccountingRows } from '../../slurm-connection/accounting-rows.ts';
import { problemOfSlurm } from '../../slurm-connection/row-problems.ts';
import { changedRow } from './fields.ts';
import type { ObservedQos, QosObserver } from './observe.ts';
import { planQos, type QosAction, type QosPlan } from './plan.ts';

/** Why nothing was written. What is not an answer of Slurm is thrown. */
export interface QosNote {
  /** Undefined: the row has changed since the plan was made; the next one decides again. */
  readonly problem?: Problem;
  /** The status already says what was to be written. */
  readonly isRecorded: boolean;
}
export type QosActing = Acting<QualityOfService, ObservedQos, QosPlan, QosNote>;

/** Slurm's own number for "Job(s) active, cancel job(s) before remove". */
const jobsActive = 7001;

export interface QosActorOptions {
  readonly client: Client;
  readonly observer: QosObserver;
  readonly rows: AccountingRows;
  readonly batches: AccountingBatches;
  /** Throws when this replica may not write any more. */
  readonly assertMayWrite: (() => void) | undefined;
}

export class QosActor {
  readonly #options: QosActorOptions;

  constructor(options: QosActorOptions) {
    this.#options = options;
  }

  async act(action: QosAction, acting: QosActing): Promise<void> {
    switch (action.type) {
      case 'AddFinalizer':
      case 'RemoveFinalizer':
        return this.#setFinalizer(action.type, acting);
      case 'WriteRow':
        return this.#write(action, acting);
      case 'DeleteRow':
        return this.#delete(action.name, acting);
      default:
        return action satisfies never;
    }
  }

  async #setFinalizer(
    type: 'AddFinalizer' | 'RemoveFinalizer',
    { object, signal }: Pick<QosActing, 'object' | 'signal'>,
  ): Promise<void> {
    const change = type === 'AddFinalizer' ? addFinalizer : removeFinalizer;
    await change(this.#options.client, qualitiesOfService, object, finalizer.declared, { signal });
  }

  async #write(action: WriteRow, acting: QosActing): Promise<void> {
    const { name, changes } = action;
    let isRecorded = false;
    await this.#change(
      acting,
      (slurm, signal) =>
        this.#options.batches.qos(slurm).submit(async (rows) => {
          // The list of the plan may be old: a row that someone else has created since is not taken over by chance.
          const seen = { ...acting.observed, rows };
          if (!isDeepStrictEqual(planQos(seen, 0).write, action)) {
            acting.note({ isRecorded: false });
            return undefined;
          }
          await this.#recordBefore(action, acting);
          isRecorded = true;
          return { name, change: (current) => changedRow(name, current, changes) };
        }, signal),
      { isRecorded: () => isRecorded },
    );
  }

  /** The status names what is being written, so that a crash before the next one forgets no field that must be unset later. */
  async #recordBefore({ desired, changes }: WriteRow, acting: QosActing): Promise<void> {
    const { object } = acting;
    const { conditions: _, observedGeneration: __, ...fields } = object.status ?? {};
    const applied = appliedBefore({ desired, applied: readApplied(fields.applied) }, changes);
    const report = { fields: { ...fields, applied: writeApplied(applied) }, conditions: [] };
    await recordStatus(qualitiesOfService, object, report, this.#options.client, acting);
  }

  /** Slurm 24.11 deletes a QOS under the jobs that use it, so Slurm is not relied on to refuse. */
  async #delete(name: string, acting: QosActing): Promise<void> {
    const used = await this.#usage(name, acting);
    if (used !== undefined) return acting.note({ problem: used, isRecorded: true });
    const isDeleted = await this.#change(
      acting,
      (slurm, signal) => slurm.accounting.qos.delete(name, { signal }),
      { explain: (error) => (error.number === jobsActive ? inUse(name, []) : undefined) },
    );
    if (isDeleted) await this.#setFinalizer('RemoveFinalizer', acting);
  }

  /** Undefined: no job of any cluster uses it. */
  async #usage(name: string, { object, signal }: QosActing): Promise<Problem | undefined> {
    const using: string[] = [];
    for (const [controller, slurm] of this.#options.observer.connectionsOf(object)) {
      const jobs = slurm && (await jobsOf(slurm, name, signal));
      if (jobs === undefined)
        return {
          reason: 'InUse',
          message: `QOS ${name} is not deleted while the jobs of Controller ${controller} cannot be listed: they may use it. Check its Cluster, or set spec.deletionPolicy to Orphan.`,
          passing: true,
        };
      using.push(...jobs);
    }
    return using.length === 0 ? undefined : inUse(name, using);
  }

  #connection({ object }: QosActing): SlurmClient {
    const slurm = this.#options.observer.clientOf(object);
    if (slurm === undefined) throw new Error('the connection to Slurm was closed');
    return slurm;
  }

  /** Whether Slurm did it. */
  async #change(
    acting: QosActing,
    change: (slurm: SlurmClient, signal: AbortSignal) => Promise<unknown>,
    {
      explain,
      isRecorded = () => true,
    }: {
      readonly explain?: (error: SlurmError) => Problem | undefined;
      readonly isRecorded?: () => boolean;
    } = {},
  ): Promise<boolean> {
    const { signal, note } = acting;
    const slurm = this.#connection(acting);
    this.#options.assertMayWrite?.();
    try {
      await change(slurm, signal);
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof SlurmError)) throw error;
      note({ problem: explain?.(error) ?? problemOfSlurm(error), isRecorded: isRecorded() });
      return false;
    } finally {
      this.#options.rows.invalidateQos(slurm);
    }
  }
}

type WriteRow = QosAction & { readonly type: 'WriteRow' };

const mostNamed = 5;

/** Undefined: Slurm does not list its jobs. */
async function jobsOf(
  { jobs }: SlurmClient,
  qos: string,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  try {
    const listed = await jobs.listProjected(({ id, qos: of, state }) => ({ id, of, state }), { signal });
    return listed.items.filter((job) => job.of === qos && !hasEnded(job.state)).map(({ id }) => String(id));
  } catch (error) {
    if (signal.aborted || !(error instanceof SlurmError)) throw error;
    return undefined;
  }
}

function inUse(qos: string, using: readonly string[]): Problem {
  const named = using.slice(0, mostNamed).join(', ');
  const more = using.length > mostNamed ? ` and ${using.length - mostNamed} more` : '';
  return {
    reason: 'InUse',
    message: `QOS ${qos} is not deleted while jobs use it${named === '' ? '' : ` (${named}${more})`}: wait for them or cancel them, or set spec.deletionPolicy to Orphan.`,
    passing: true,
  };
}
