/** What of the desired slurm.conf waits, for how long already, and by which command a person puts it in force all the same. Pure. */
import { annotation, type Controller } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import { digestOf } from '../../../objects/digest.ts';
import { readConf } from '../../../slurm-config/guard/conf-content.ts';
import { type GuardedConfig, guardConfig } from '../../../slurm-config/guard/guard-config.ts';
import { guardRestart } from '../../../slurm-config/guard/guard-restart.ts';
import { describeJobs, type Hold, heldJobs, noJobs } from '../../../slurm-config/guard/hold.ts';
import {
  type ExpectedWorkers,
  isIn,
  type Released,
  type SlurmWork,
} from '../../../slurm-config/guard/slurm-work.ts';
import type { WantedRestart } from './restart.ts';

/** What is known of the configuration in force, and what Slurm would lose with it. */
export interface ConfigEvidence {
  /** Undefined before the first. */
  readonly inForce: InForce | undefined;
  readonly slurm: SlurmWork;
  /** Before the first: the state of an earlier slurmctld. */
  readonly keptState?: KeptState;
}

export interface KeptState {
  readonly claim: string;
  /** What its jobs need of slurm.conf; undefined: no operator has noted it. */
  readonly note: string | undefined;
}

/** Nothing is in force, so nothing can be lost. */
export const noEvidence: ConfigEvidence = {
  inForce: undefined,
  slurm: { kind: 'unknown', why: 'it was not queried' },
};

export interface InForce {
  readonly text: string;
  /** Slurm's name of a set → the NodeSet that it comes from. */
  readonly owners: Owners;
}

export type Owners = Readonly<Record<string, string>>;

/** A NodeSet that is being deleted. */
export interface LeavingNodeSet {
  readonly name: string;
  /** Its name in Slurm, which is also the one of its partition. */
  readonly setName: string;
  readonly deletionPolicy: 'Drain' | 'CancelPending' | 'Delete';
  /** Worker pods that still exist. */
  readonly workers: number;
}

export interface HoldInput {
  readonly controller: Live<Controller>;
  readonly desired: string;
  /** Of the NodeSets that stay. */
  readonly owners: Owners;
  readonly leaving: readonly LeavingNodeSet[];
  readonly expected?: ExpectedWorkers | undefined;
  /** A file of the site has changed: slurmctld is to read all of them again. */
  readonly filesChanged?: boolean;
  /** slurmctld is to be restarted. */
  readonly restart?: WantedRestart | undefined;
  /** slurmctld may still use an earlier configuration, with a PrologSlurmctld. */
  readonly earlierProlog?: boolean;
  readonly evidence: ConfigEvidence;
  readonly now: number;
}

export interface ConfigHold extends GuardedConfig {
  /** Of every NodeSet that has lines in this text. */
  readonly owners: Owners;
  /** What of the desired text is not in force yet, and why; undefined when all of it is. */
  readonly waiting: Waiting | undefined;
  /** A person asked for the desired text whatever it costs: this is that text, and it is being tried. */
  readonly forced: boolean;
}

export interface Waiting {
  /** When the first of what is held began to wait. */
  readonly since: string;
  /** Names this desired configuration during this wait: no other one, and not the same one at another time. */
  readonly token: string;
  readonly items: readonly HeldItem[];
}

export type HeldItem = Pick<Hold, 'kind' | 'name' | 'cause' | 'jobs' | 'message'> & {
  readonly nodeSet?: string;
};

/** Nothing of the new configuration may be read yet, files of the site included. */
export const holdsEverything = (hold: ConfigHold | undefined): boolean =>
  hold?.holds.some(({ kind }) => kind === 'Configuration') ?? false;

/** The configuration is in force; only the restart of slurmctld waits. */
export const isOnlyRestart = ({ items }: Pick<Waiting, 'items'>): boolean =>
  items.every(({ kind }) => kind === 'Restart');

export function holdConfig(input: HoldInput): ConfigHold {
  const { controller, desired, owners, leaving, expected, evidence, filesChanged = false, now } = input;
  const { inForce, slurm } = evidence;
  const config = guardConfig({
    inForce: inForce?.text,
    desired,
    slurm,
    released: releasedBy(leaving),
    workers: new Map(leaving.map(({ setName, workers }) => [setName, workers])),
    expected,
    rereads: filesChanged,
    keepsState: controller.spec.persistence.enabled,
  });
  const guarded = { ...config, holds: [...config.holds, ...restartHolds(input, config.holds)] };
  if (guarded.holds.length === 0) return { ...guarded, owners, waiting: undefined, forced: false };
  const since = heldSince(controller, now);
  const token = digestOf({ desired, since, restart: input.restart?.digest }).slice(0, 12);
  const known: Owners = { ...inForce?.owners, ...owners };
  const items = guarded.holds.map(({ kind, name, cause, jobs, message }): HeldItem => {
    const nodeSet = kind === 'Partition' || kind === 'NodeSet' ? known[name] : undefined;
    return { kind, name, cause, jobs, message, ...(nodeSet === undefined ? {} : { nodeSet }) };
  });
  const waiting = { since, token, items };
  // The wait is kept in the status until the forced text is in force: the token depends on it.
  if (controller.metadata.annotations?.[annotation.forceConfig] === token)
    return { text: desired, holds: [], nodes: guarded.nodes, owners, waiting, forced: true };
  // Where the whole configuration waits, the lines in force are the old ones, those of NodeSets that are being deleted included.
  const lines = guarded.text === inForce?.text ? inForce.owners : { ...owners, ...heldOwners(items, known) };
  return { ...guarded, owners: lines, waiting, forced: false };
}

/**
 * While the new configuration is refused, the partition of a NodeSet that is being deleted stays as it is, with the jobs that its
 * deletionPolicy gave up: they would wait there for nodes that never come, and the policy goes with the NodeSet.
 */
export function withReleasedJobs(
  hold: ConfigHold,
  { controller, leaving, evidence, now }: HoldInput,
): ConfigHold {
  const { inForce, slurm } = evidence;
  const partitions = readConf(inForce?.text ?? '').partitions;
  const items = leaving.flatMap(({ name, setName, deletionPolicy }): HeldItem[] => {
    if (deletionPolicy === 'Drain' || !partitions.has(setName)) return [];
    const item = { kind: 'Partition', name: setName, nodeSet: name } as const;
    const stays = `Partition ${setName} stays as it is, because the configuration without it is not accepted`;
    if (slurm.kind === 'unknown')
      return [
        {
          ...item,
          cause: 'unknown',
          jobs: noJobs,
          message: `${stays}, and it is unknown whether it has jobs: ${slurm.why}`,
        },
      ];
    const jobs = heldJobs(slurm.jobs.filter((job) => isIn(job, setName)));
    if (jobs.ids.length === 0) return [];
    const message = `${stays}, and it has ${describeJobs(jobs)}, which deletionPolicy ${deletionPolicy} ends with the partition. Correct the configuration, or cancel them with "scancel --partition=${setName}".`;
    return [{ ...item, cause: 'jobs', jobs, message }];
  });
  if (items.length === 0) return hold;
  const since = hold.waiting?.since ?? heldSince(controller, now);
  const token = hold.waiting?.token ?? digestOf({ refused: hold.text, since }).slice(0, 12);
  return { ...hold, waiting: { since, token, items: [...(hold.waiting?.items ?? []), ...items] } };
}

const heldSince = ({ status }: Live<Controller>, now: number): string =>
  status?.heldConfig?.since ?? new Date(now).toISOString();

/** What the configuration already waits for is not said twice. */
function restartHolds(
  { controller, leaving, evidence, restart, earlierProlog = false, now }: HoldInput,
  held: readonly Hold[],
): Hold[] {
  const { inForce, slurm } = evidence;
  if (restart === undefined || inForce === undefined) return [];
  const said = new Set(held.flatMap(({ byRestart, name }) => (byRestart === true ? name : [])));
  return guardRestart({
    inForce: inForce.text,
    slurm,
    released: releasedBy(leaving),
    keepsState: controller.spec.persistence.enabled,
    waitedMs: now - restart.since,
    earlierProlog,
  }).filter(({ name }) => !said.has(name));
}

/** A NodeSet line that only the user's own lines need belongs to no NodeSet object any more. */
function heldOwners(items: readonly HeldItem[], known: Owners): Owners {
  const partitions = new Set(items.flatMap(({ kind, name }) => (kind === 'Partition' ? name : [])));
  return Object.fromEntries(
    items.flatMap(({ kind, name, cause }): (readonly [string, string])[] => {
      const owner = known[name];
      const counts =
        kind === 'Partition' || (kind === 'NodeSet' && (cause === 'workers' || partitions.has(name)));
      return owner === undefined || !counts ? [] : [[name, owner]];
    }),
  );
}

function releasedBy(leaving: readonly LeavingNodeSet[]): Released {
  return new Map(
    leaving.flatMap(({ setName, deletionPolicy }): (readonly [string, 'all' | 'pending'])[] => {
      switch (deletionPolicy) {
        case 'Drain':
          return [];
        case 'CancelPending':
          return [[setName, 'pending']];
        case 'Delete':
          return [[setName, 'all']];
        default:
          return deletionPolicy satisfies never;
      }
    }),
  );
}

/** One or two of what is held, in a sentence each, and the way out. */
export function describeHold(
  { items, token }: Waiting,
  controller: { readonly name: string; readonly namespace: string },
): string {
  const shown = items
    .filter(({ cause }) => cause !== 'referenced')
    .concat(items)
    .slice(0, 2);
  const unique = [...new Set(shown.map(({ message }) => message))];
  const more =
    items.length > unique.length ? ` (${items.length} items are held back; see status.heldConfig.)` : '';
  const what = isOnlyRestart({ items }) ? 'A restart of slurmctld' : 'Part of the new configuration';
  return `${what} is held back so that no job is lost. ${unique.join(' ')}${more} To apply it at once and lose these jobs: kubectl annotate controller ${controller.name} -n ${controller.namespace} --overwrite ${annotation.forceConfig}=${token}`;
}

/** Told once when something begins to wait, when it is in force after all, and when a person forced it. */
export function holdEvents(
  { status, metadata }: Live<Controller>,
  hold: ConfigHold | undefined,
): { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly note: string }[] {
  const before = status?.heldConfig;
  if (hold === undefined) return [];
  const labelOf = ({ kind, name }: { readonly kind?: string; readonly name?: string }) => `${kind} ${name}`;
  const old = new Set((before?.items ?? []).map(labelOf));
  if (hold.waiting !== undefined)
    return hold.waiting.items
      .filter((item) => item.cause !== 'referenced' && !old.has(labelOf(item)))
      .slice(0, 5)
      .map(({ message }) => ({ type: 'Normal', reason: 'ConfigHeld', note: message }));
  if (before === undefined) return [];
  const names = [...old].slice(0, 5).join(', ');
  return before.token !== undefined && metadata.annotations?.[annotation.forceConfig] === before.token
    ? [
        {
          type: 'Warning',
          reason: 'ConfigForced',
          note: `A user forced the configuration that was held back for ${names}.`,
        },
      ]
    : [
        {
          type: 'Normal',
          reason: 'ConfigReleased',
          note: `No job needs the held configuration: ${names}.`,
        },
      ];
}
