/** Reads what slurmdbd keeps, as any API version writes it, into the model. Pure. */
import { ProtocolError } from '../errors.ts';
import type {
  AccountingJob,
  AccountingStep,
  SlurmAccount,
  SlurmAssociation,
  SlurmClusterRecord,
  SlurmTres,
  SlurmUser,
} from '../model/accounting.ts';
import { limitOf, listOf, numberOf, timeOf, type WireNumber } from '../wire/values.ts';

export function readAccount(raw: {
  readonly name: string;
  readonly description: string;
  readonly organization: string;
  readonly coordinators?: readonly { readonly name: string }[];
  readonly flags?: readonly string[];
}): SlurmAccount {
  return {
    name: raw.name,
    description: raw.description,
    organization: raw.organization,
    coordinators: (raw.coordinators ?? []).map((coordinator) => coordinator.name),
    flags: listOf(raw.flags),
  };
}

export function readUser(raw: {
  readonly name: string;
  readonly default?: { readonly account?: string };
  readonly administrator_level?: readonly string[];
  readonly flags?: readonly string[];
}): SlurmUser {
  return {
    name: raw.name,
    defaultAccount: raw.default?.account ?? '',
    administratorLevel: listOf(raw.administrator_level),
    flags: listOf(raw.flags),
  };
}

export function readAssociation(raw: {
  readonly account?: string;
  readonly cluster?: string;
  readonly user: string;
  readonly partition?: string;
  readonly parent_account?: string;
  readonly is_default?: boolean;
  readonly qos?: readonly string[];
  readonly shares_raw?: number;
}): SlurmAssociation {
  return {
    account: raw.account ?? '',
    cluster: raw.cluster ?? '',
    user: raw.user,
    partition: raw.partition ?? '',
    parentAccount: raw.parent_account ?? '',
    isDefault: raw.is_default === true,
    qos: listOf(raw.qos),
    sharesRaw: raw.shares_raw,
  };
}

export function readClusterRecord(raw: {
  readonly name?: string;
  readonly nodes?: string;
  readonly controller?: { readonly host?: string; readonly port?: number };
}): SlurmClusterRecord {
  return {
    name: raw.name ?? '',
    controllerHost: raw.controller?.host ?? '',
    controllerPort: raw.controller?.port,
    nodes: raw.nodes ?? '',
  };
}

export function readAccountingJob(raw: {
  readonly job_id?: number;
  readonly name?: string;
  readonly user?: string;
  readonly account?: string;
  readonly cluster?: string;
  readonly partition?: string;
  readonly nodes?: string;
  readonly state?: { readonly current?: readonly string[]; readonly reason?: string };
  readonly time?: {
    readonly submission?: number;
    readonly start?: number;
    readonly end?: number;
    readonly elapsed?: number;
    readonly limit?: WireNumber;
  };
  readonly exit_code?: { readonly return_code?: WireNumber };
  readonly steps?: readonly WireStep[];
  readonly script?: string;
}): AccountingJob {
  if (typeof raw.job_id !== 'number')
    throw new ProtocolError('Slurm listed an accounting job without a number');
  return {
    id: raw.job_id,
    name: raw.name ?? '',
    user: raw.user ?? '',
    account: raw.account ?? '',
    cluster: raw.cluster ?? '',
    partition: raw.partition ?? '',
    state: listOf(raw.state?.current),
    stateReason: raw.state?.reason ?? '',
    nodes: raw.nodes === 'None assigned' ? '' : (raw.nodes ?? ''),
    submittedAt: timeOf(raw.time?.submission),
    startedAt: timeOf(raw.time?.start),
    endedAt: timeOf(raw.time?.end),
    elapsedSeconds: raw.time?.elapsed,
    timeLimit: limitOf(raw.time?.limit),
    exitCode: numberOf(raw.exit_code?.return_code),
    steps: (raw.steps ?? []).map(readStep),
    script: raw.script ?? '',
  };
}

interface WireStep {
  readonly step?: { readonly id?: string; readonly name?: string };
  readonly state?: readonly string[];
  readonly nodes?: { readonly range?: string };
  readonly tasks?: { readonly count?: number };
  readonly time?: {
    readonly start?: WireNumber;
    readonly end?: WireNumber;
    readonly total?: { readonly seconds?: number };
  };
  readonly exit_code?: { readonly return_code?: WireNumber };
}

function readStep({ step, state, nodes, tasks, time, exit_code: exit }: WireStep): AccountingStep {
  return {
    id: step?.id ?? '',
    name: step?.name ?? '',
    state: listOf(state),
    nodes: nodes?.range ?? '',
    tasks: tasks?.count,
    startedAt: timeOf(time?.start),
    endedAt: timeOf(time?.end),
    exitCode: numberOf(exit?.return_code),
    cpuSeconds: time?.total?.seconds,
  };
}

export function readTres(raw: {
  readonly type: string;
  readonly name?: string;
  readonly id?: number;
}): SlurmTres {
  return { type: raw.type, name: raw.name ?? '', id: raw.id };
}
