/** Reads the configuration in force, and asks Slurm where a change of it could cost a job. */
import { hash } from 'node:crypto';
import { app, type Controller, resourceName } from '@slurm-operator/api';
import {
  type Cache,
  type Client,
  type ConfigMap,
  configMaps,
  type Live,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
} from '@slurm-operator/kube';
import { readConf } from '../../slurm-config/guard/conf-content.ts';
import { needsSlurm } from '../../slurm-config/guard/guard-config.ts';
import { withNotedLines } from '../../slurm-config/guard/kept-state.ts';
import { type HeldName, recoverInForce } from '../../slurm-config/guard/recover-in-force.ts';
import type { SlurmSurvey, SlurmWork } from '../../slurm-config/guard/slurm-work.ts';
import {
  confDigestAnnotation,
  nodeSetsAnnotation,
  versionFile,
} from '../../slurm-config/render/config-map.ts';
import { type ConfigEvidence, type KeptState, noEvidence, type Owners } from './plan/config-hold.ts';
import { stateClaims, stateNoteAnnotation } from './plan/state-note.ts';

export interface EvidenceInput {
  readonly cache: Cache;
  readonly client: Client;
  readonly survey: SlurmSurvey;
  readonly controller: Live<Controller>;
  readonly desired: string;
  /** A slurmctld runs that has answered before: partitions may exist that slurm.conf does not name. */
  readonly mayHavePartitions: boolean;
  /** A slurmctld that has answered before keeps its jobs in its pod. */
  readonly mayHaveState?: boolean;
  /** Files beside slurm.conf are not those that slurmctld read last. */
  readonly filesChanged?: boolean;
  /** slurmctld is to be restarted: what only Slurm has would be forgotten, whatever slurm.conf says. */
  readonly restarts?: boolean;
  /** Slurm cannot answer before that restart. */
  readonly lockedOut?: boolean;
  /** Right before a write: Slurm is asked after this call, whatever it said before. */
  readonly fresh?: boolean;
  readonly signal: AbortSignal;
}

export async function gatherEvidence(input: EvidenceInput): Promise<ConfigEvidence> {
  const { cache, client, controller, desired, survey, signal } = input;
  const { namespace, name } = controller.metadata;
  const map = { namespace, name: resourceName.config(name) };
  const cached = cache.get(configMaps, map);
  // The cache holds digests: usually they show that nothing changed, and nothing is read.
  if (cached !== undefined && input.filesChanged !== true && isSettled(cached, controller, desired)) {
    const inForce = { text: desired, owners: ownersIn(cached) };
    if (input.restarts === true) return { inForce, slurm: await askAll(input, desired) };
    if (!survey.hasClosedNodes(namespace, name)) return { ...noEvidence, inForce };
    return { inForce, slurm: await askAll(input) };
  }
  if (input.fresh === true) survey.forget(namespace, name);
  const stored = await client.find(configMaps, map, { signal });
  const text = stored?.data?.['slurm.conf'];
  const { configHash } = controller.status ?? {};
  const kept = text === undefined ? await findKeptState(input) : undefined;
  if (text === undefined && configHash === undefined)
    return kept === undefined ? noEvidence : ofKept(input, kept);
  if (stored !== undefined && text !== undefined && isAsWritten(stored, hash('sha256', text), configHash))
    return { inForce: { text, owners: ownersIn(stored) }, slurm: await askSlurm(input, text) };
  const slurm = await askAll(input, text);
  const held = (controller.status?.heldConfig?.items ?? []) as readonly HeldName[];
  const port = controller.status?.slurmctldPort;
  const base = withNotedLines(desired, kept?.note ?? '');
  const recovered = recoverInForce({ text, desired: base, held, slurm, port });
  return {
    inForce: { text: recovered, owners: { ...ownersOfHeld(controller), ...(stored && ownersIn(stored)) } },
    slurm,
  };
}

/** The claim of the state, if it exists. Lists, because the operator has no other need to read single claims. */
async function findKeptState({ client, controller, signal }: EvidenceInput): Promise<KeptState | undefined> {
  const { namespace } = controller.metadata;
  for (const claim of stateClaims(controller)) {
    const fieldSelector = `metadata.name=${claim}`;
    const { items } = await client.list(persistentVolumeClaims, { namespace, fieldSelector, signal });
    const [live] = items.filter(mayHaveState);
    if (live !== undefined) return { claim, note: live.metadata.annotations?.[stateNoteAnnotation] };
  }
  return undefined;
}

/** One that waits for its first volume is empty, unless that is made from a snapshot. */
const mayHaveState = ({ metadata, spec, status }: Live<PersistentVolumeClaim>): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.phase === 'Bound' ||
    [spec?.volumeName, spec?.dataSource, spec?.dataSourceRef].some((source) => source !== undefined));

/** The first configuration of a slurmctld that finds the state of an earlier one. */
async function ofKept(input: EvidenceInput, keptState: KeptState): Promise<ConfigEvidence> {
  const { desired } = input;
  const { claim, note = '' } = keptState;
  const text = withNotedLines(desired, note);
  const slurm = text === desired ? noEvidence.slurm : await askAll(input, text);
  const why = `slurmctld has not started yet with the state that PersistentVolumeClaim ${claim} keeps. It is released when slurmctld responds and no job needs it, or when its NodeSet exists again.`;
  return {
    inForce: { text, owners: {} },
    slurm: slurm.kind === 'unknown' ? { ...slurm, why } : slurm,
    keptState,
  };
}

function isSettled(cached: Live<ConfigMap>, { status }: Live<Controller>, desired: string): boolean {
  const digest = hash('sha256', desired);
  const { data, metadata } = cached;
  const written = metadata.annotations?.[confDigestAnnotation] ?? digest;
  const version = data?.[versionFile];
  return (
    data?.['slurm.conf'] === digest &&
    written === digest &&
    (status?.configHash === undefined || version === hash('sha256', status.configHash))
  );
}

/** The operator wrote this text, and slurmctld was last told to read it. An older operator left no digest. */
function isAsWritten(
  { data, metadata }: Live<ConfigMap>,
  digest: string,
  configHash: string | undefined,
): boolean {
  const written = metadata.annotations?.[confDigestAnnotation] ?? digest;
  return written === digest && data?.[versionFile] !== undefined && data[versionFile] === configHash;
}

/** A change that removes nothing is applied even while Slurm does not respond: it may be the fix. */
async function askSlurm(input: EvidenceInput, inForce: string): Promise<SlurmWork> {
  const { survey, controller, desired, signal, fresh = false } = input;
  const { namespace, name } = controller.metadata;
  if (input.restarts === true || needsSlurm(inForce, desired)) return askAll(input, inForce);
  const partitions = await survey.partitions(namespace, name, signal);
  if (partitions === undefined) return { ...noEvidence.slurm, ...mayForget(input, inForce) };
  const known = partitionsOf(inForce, desired);
  if (![...partitions].every((partition) => known.has(partition))) return askAll(input, inForce);
  // A pending job may ask for a node that Slurm no longer has. Without an answer the change is made, as above.
  const work = await survey.work(namespace, name, signal, { fresh });
  return work.kind === 'known' ? work : noEvidence.slurm;
}

async function askAll(input: EvidenceInput, inForce?: string): Promise<SlurmWork> {
  const { survey, controller, signal, fresh = false } = input;
  const work = await survey.work(controller.metadata.namespace, controller.metadata.name, signal, { fresh });
  if (work.kind === 'known') return work;
  return {
    ...work,
    ...mayForget(input, inForce ?? ''),
    ...(input.mayHaveState === true ? { mayHaveJobs: true } : {}),
    // It answers when it has read the key, which it does without a restart where a restart would cost its jobs.
    ...(input.mayHaveState === true && input.lockedOut === true ? { why: whyLockedOut(controller) } : {}),
  };
}

const whyLockedOut = ({ metadata: { name, namespace } }: Live<Controller>): string =>
  `jwt.key has changed, and slurmctld still refuses tokens that are signed with the new one. It reads the new key within two minutes, unless it has a partition that slurm.conf does not name; to have it read now, run "kubectl exec -n ${namespace} ${resourceName.controllerPod(name, 0)} -c ${app.controller} -- scontrol reconfigure".`;

/** Partitions that were made with scontrol are lost by any reconfigure; what Slurm had when it answered last may have jobs now. */
function mayForget(
  { survey, controller, desired, mayHavePartitions, lockedOut }: EvidenceInput,
  inForce: string,
): { readonly why?: string; readonly mayForget?: string } {
  if (!mayHavePartitions) return {};
  const { namespace, name } = controller.metadata;
  const why = 'see the condition SlurmConnected of the Controller.';
  const last = survey.lastPartitions(namespace, name);
  if (last === undefined && lockedOut === true) return {};
  if (last === undefined) return { why, mayForget: 'partitions that were created with scontrol' };
  const known = partitionsOf(inForce, desired);
  const alone = [...last].filter((partition) => !known.has(partition));
  return alone.length === 0 ? {} : { why, mayForget: `partition ${alone.slice(0, 5).join(', ')}` };
}

const partitionsOf = (...texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => [...readConf(text).partitions.keys()]));

function ownersOfHeld({ status }: Live<Controller>): Owners {
  const items = (status?.heldConfig?.items ?? []) as readonly (HeldName & { readonly nodeSet?: string })[];
  return Object.fromEntries(
    items.flatMap(({ name, nodeSet }) => (nodeSet === undefined ? [] : [[name, nodeSet]])),
  );
}

/** An annotation that cannot be read says nothing of owners. */
function ownersIn({ metadata }: Live<ConfigMap>): Owners {
  try {
    return JSON.parse(metadata.annotations?.[nodeSetsAnnotation] ?? '{}') as Owners;
  } catch {
    return {};
  }
}
