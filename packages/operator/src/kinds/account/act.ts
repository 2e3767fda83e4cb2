/** Carries out what a plan asks for in the accounting database. */
import { isDeepStrictEqual } from 'node:util';
import { type Account, finalizer } from '@slurm-operator/api';
import { addFinalizer, type Client, removeFinalizer } from '@slurm-operator/kube';
import {
  type AccountChanges,
  emptyAssociation,
  hasEnded,
  type SlurmClient,
  SlurmError,
  type SlurmJob,
} from '@slurm-operator/slurm';
import { accounts } from '../../cache/resources.ts';
import type { Acting } from '../../framework/define-reconciler.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { recordStatus } from '../../framework/status/write-status.ts';
import type { AccountingBatches } from '../../slurm-connection/accounting-batches.ts';
import { type AccountingRows, type KnownAccounts, rowKey } from '../../slurm-connection/accounting-rows.ts';
import { problemOfSlurm } from '../../slurm-connection/row-problems.ts';
import { writeRows } from './applied.ts';
import { appliedBeforeWrite } from './applied-rows.ts';
import { accountName, changedAssociation, changedRecord, placeOf, type RowPlace } from './fields.ts';
import type { AccountObserver, ObservedAccount } from './observe.ts';
import { type AccountAction, type AccountPlan, planAccount, type Write } from './plan.ts';
import * as problems from './problems.ts';

/** Why something was not written. What is not an answer of Slurm is thrown. */
export interface AccountNote {
  readonly about: 'write' | 'removal';
  /** Undefined: the rows have changed since the plan was made; the next one decides again. */
  readonly problem?: Problem;
  /** The status already says what was to be written. */
  readonly isRecorded: boolean;
}
export type AccountActing = Acting<Account, ObservedAccount, AccountPlan, AccountNote>;

/** Slurm's own numbers for "Job(s) active, cancel job(s) before remove" and "You can not remove the default account of a user". */
const jobsActive = 7001;
const defaultAccount = 7009;

export interface AccountActorOptions {
  readonly client: Client;
  readonly observer: AccountObserver;
  readonly rows: AccountingRows;
  readonly batches: AccountingBatches;
  /** Throws when this replica may not write any more. */
  readonly assertMayWrite: (() => void) | undefined;
}

export class AccountActor {
  readonly #options: AccountActorOptions;

  constructor(options: AccountActorOptions) {
    this.#options = options;
  }

  async act(action: AccountAction, acting: AccountActing): Promise<void> {
    switch (action.type) {
      case 'AddFinalizer':
      case 'RemoveFinalizer':
        return this.#setFinalizer(action.type, acting);
      case 'WriteRows':
        return this.#write(action, acting);
      case 'RemoveMembers':
        return void (await this.#removeMembers(action.members, acting));
      case 'DeleteAccount':
        return this.#delete(action.members, acting);
      default:
        return action satisfies never;
    }
  }

  async #setFinalizer(
    type: 'AddFinalizer' | 'RemoveFinalizer',
    { object, signal }: Pick<AccountActing, 'object' | 'signal'>,
  ): Promise<void> {
    const change = type === 'AddFinalizer' ? addFinalizer : removeFinalizer;
    await change(this.#options.client, accounts, object, finalizer.declared, { signal });
  }

  async #write(action: Write, acting: AccountActing): Promise<void> {
    const { signal, note, observed } = acting;
    let isRecorded = false;
    try {
      await this.#options.batches.accounts(this.#connection(acting)).submit(async (rows) => {
        // The list of the plan may be old: a row that someone else has created since is not taken over by chance.
        const plan = planAccount({ ...observed, rows }, 0);
        if (!isDeepStrictEqual(plan.write, action)) {
          note({ about: 'write', isRecorded });
          return undefined;
        }
        await this.#recordBefore(plan, acting);
        isRecorded = true;
        return changesOf(accountName(observed.account), action, rows);
      }, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof SlurmError)) {
        note({ about: 'write', isRecorded });
        throw error;
      }
      note({ about: 'write', problem: problemOfSlurm(error), isRecorded });
    }
  }

  /** The status names what is being written, so that a crash before the next one forgets nothing that must be unset or removed later. */
  async #recordBefore(plan: AccountPlan, acting: AccountActing): Promise<void> {
    const { object } = acting;
    const { conditions: _, observedGeneration: __, ...fields } = object.status ?? {};
    const report = { fields: { ...fields, applied: writeRows(appliedBeforeWrite(plan)) }, conditions: [] };
    await recordStatus(accounts, object, report, this.#options.client, acting);
  }

  /** Whether all of them are gone. */
  async #removeMembers(members: readonly RowPlace[], acting: AccountActing): Promise<boolean> {
    const name = accountName(acting.observed.account);
    const users = new Set(members.map(({ user }) => user));
    const used = await this.#usage(
      `a member of account ${name}`,
      acting,
      (job) => job.account === name && users.has(job.user),
    );
    if (used.problem !== undefined)
      acting.note({ about: 'removal', problem: used.problem, isRecorded: true });
    if (used.isUnknown) return false;
    const free = members.filter(({ user }) => !used.users.has(user));
    let isDone = free.length === members.length;
    for (const { cluster, user } of free) {
      const key = { cluster, account: name, user, partition: '' };
      const isRemoved = await this.#change(
        acting,
        (slurm, signal) => slurm.accounting.table.removeMember(key, { signal }),
        (error) => {
          if (error.number === jobsActive) return problems.inUse(`member ${user} of account ${name}`, []);
          return error.number === defaultAccount ? problems.isDefault(user, name) : undefined;
        },
      );
      isDone &&= isRemoved;
    }
    return isDone;
  }

  async #delete(members: readonly RowPlace[], acting: AccountActing): Promise<void> {
    const name = accountName(acting.observed.account);
    // The list of the plan may be old.
    const rows = await this.#options.rows.freshAccounts(this.#connection(acting));
    const again = planAccount({ ...acting.observed, rows }, 0).actions;
    if (!again.some(({ type }) => type === 'DeleteAccount'))
      return acting.note({ about: 'removal', isRecorded: true });
    const used = await this.#usage(`account ${name}`, acting, ({ account }) => account === name);
    if (used.problem !== undefined)
      return acting.note({ about: 'removal', problem: used.problem, isRecorded: true });
    if (!(await this.#removeMembers(members, acting))) return;
    const isDeleted = await this.#change(
      acting,
      (slurm, signal) => slurm.accounting.table.delete(name, { signal }),
      (error) => (error.number === jobsActive ? problems.inUse(`account ${name}`, []) : undefined),
    );
    if (isDeleted) await this.#setFinalizer('RemoveFinalizer', acting);
  }

  /** Jobs of any cluster that use what is removed, and whose they are. */
  async #usage(
    what: string,
    { object, signal }: AccountActing,
    isMeant: (job: Pick<SlurmJob, 'account' | 'user'>) => boolean,
  ): Promise<{
    readonly problem?: Problem;
    readonly users: ReadonlySet<string>;
    readonly isUnknown?: boolean;
  }> {
    const using: string[] = [];
    const users = new Set<string>();
    for (const [controller, slurm] of this.#options.observer.connectionsOf(object)) {
      const jobs = slurm && (await jobsOf(slurm, signal));
      if (jobs === undefined)
        return { problem: problems.jobsUnknown(what, controller), users, isUnknown: true };
      for (const job of jobs.filter(isMeant)) {
        using.push(String(job.id));
        users.add(job.user);
      }
    }
    return using.length === 0 ? { users } : { problem: problems.inUse(what, using), users };
  }

  #connection({ object }: AccountActing): SlurmClient {
    const slurm = this.#options.observer.clientOf(object);
    if (slurm === undefined) throw new Error('the connection to Slurm was closed');
    return slurm;
  }

  /** Whether Slurm did it. */
  async #change(
    acting: AccountActing,
    change: (slurm: SlurmClient, signal: AbortSignal) => Promise<unknown>,
    explain: (error: SlurmError) => Problem | undefined,
  ): Promise<boolean> {
    const { signal, note } = acting;
    const slurm = this.#connection(acting);
    this.#options.assertMayWrite?.();
    try {
      await change(slurm, signal);
      return true;
    } catch (error) {
      if (signal.aborted || !(error instanceof SlurmError)) throw error;
      note({ about: 'removal', problem: explain(error) ?? problemOfSlurm(error), isRecorded: true });
      return false;
    } finally {
      this.#options.rows.invalidateAccounts(slurm);
    }
  }
}

/** The rows that Slurm must have after the write, from those that it has. Pure. */
export function changesOf(name: string, { rows }: Write, known: KnownAccounts): AccountChanges {
  const accountRows: AccountChanges['accounts'][number][] = [];
  const records: AccountChanges['records'][number][] = [];
  const associations: AccountChanges['rows'][number][] = [];
  for (const { id, changes, creates } of rows) {
    const place = placeOf(id);
    const real = changes.filter(({ path }) => path !== 'exists');
    if (place === undefined) {
      if (real.length > 0) records.push(changedRecord(name, known.records.get(name), real));
      continue;
    }
    const { cluster, user } = place;
    const parent = real.find(({ path }) => path === 'parent')?.to;
    const isNewAccount = creates && user === '';
    if (isNewAccount)
      accountRows.push({ cluster, name, parent: typeof parent === 'string' ? parent : 'root' });
    const others = isNewAccount ? real.filter(({ path }) => path !== 'parent') : real;
    if (isNewAccount && others.length === 0) continue;
    const current =
      known.byKey.get(rowKey(cluster, name, user)) ??
      emptyAssociation(
        { cluster, account: name, user, partition: '' },
        isNewAccount && typeof parent === 'string' ? parent : '',
      );
    associations.push(changedAssociation(current, others));
  }
  return { accounts: accountRows, records, rows: associations };
}

/** Undefined: Slurm does not list them. */
async function jobsOf(
  { jobs }: SlurmClient,
  signal: AbortSignal,
): Promise<Pick<SlurmJob, 'id' | 'account' | 'user'>[] | undefined> {
  try {
    const listed = await jobs.listProjected(
      ({ id, account, user, state }) => ({ id, account, user, state }),
      {
        signal,
      },
    );
    return listed.items.filter(({ state }) => !hasEnded(state));
  } catch (error) {
    if (signal.aborted || !(error instanceof SlurmError)) throw error;
    return undefined;
  }
}
