/** rollout: status, pause, resume and undo of a NodeSet. */
import { count, hosts } from '@slurm-operator/advice';
import { label, type NodeSet } from '@slurm-operator/api';
import { controllerRevisions, type JsonPatch, type Live, NotFoundError, pods } from '@slurm-operator/kube';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import { nodeSets } from '../session/resources.ts';
import type { Session } from '../session/session.ts';
import { timeoutOf, waitUntil } from '../session/wait-until.ts';
import { readObjects, writeNodeSets } from './needs.ts';

export async function nodeSetOf(session: Session, word: string | undefined): Promise<Live<NodeSet>> {
  if (word === undefined) throw new CliError('Name a NodeSet, such as nodeset/gpu.');
  const name = word.replace(/^(nodesets?|nss)\//, '');
  const namespace = await session.namespace();
  try {
    return await (await session.client()).get(nodeSets, { namespace, name }, { signal: session.signal });
  } catch (error) {
    if (error instanceof NotFoundError)
      throw new CliError(`There is no NodeSet ${name} in namespace ${namespace}.`, { cause: error });
    throw error;
  }
}

async function showStatus(session: Session, line: CommandLine): Promise<number> {
  const wait = line.has('watch') || line.has('timeout');
  const timeoutSeconds = timeoutOf(session);
  const { progressOf } = await import('./rollout-progress.ts');
  let told = '';
  const look = async () => {
    const set = await nodeSetOf(session, line.args[0]);
    const { state, text } = progressOf(set, {
      now: await session.serverNow(),
      timeZone: session.io.timeZone,
    });
    const done = state === 'over';
    const object = `nodeset/${set.metadata.name}`;
    if (
      text !== told &&
      !session.printObject('RolloutStatus', { object, done, state, message: text }, [object])
    )
      session.io.out(`${object}: ${text}\n`);
    told = text;
    if (done) return exitCode.good;
    return wait && state === 'moving' ? undefined : exitCode.findings;
  };
  return waitUntil<number>(session, look, {
    everyMs: 1_000,
    timeoutSeconds,
    tooLong: () =>
      new CliError(`The rollout of ${line.args[0] ?? ''} is not over after ${timeoutSeconds} s.`, {
        exitCode: exitCode.findings,
      }),
  });
}

async function setPaused(session: Session, line: CommandLine, paused: boolean): Promise<number> {
  const set = await nodeSetOf(session, line.args[0]);
  const object = `nodeset/${set.metadata.name}`;
  if ((set.spec.updateStrategy?.rollingUpdate?.paused ?? false) === paused) {
    session.printDone([{ object, result: `is ${paused ? 'paused' : 'not paused'} already` }]);
    return exitCode.good;
  }
  await session.confirm(`${paused ? 'pause' : 'resume'} the rollout of NodeSet ${set.metadata.name}`);
  const client = await session.client();
  await client.mergePatch(
    nodeSets,
    set.metadata,
    { spec: { updateStrategy: { rollingUpdate: { paused } } } },
    { signal: session.signal },
  );
  session.printDone([{ object, result: paused ? 'paused' : 'resumed' }]);
  return exitCode.good;
}

/** The parts of a NodeSet that a revision records. */
const recorded = ['template', 'ordinalPadding', 'oversubscribeNode', 'slurmd', 'extraConf', 'logfile', 'ssh'];

/** Whole fields are replaced, so that what the newer revision added goes too. */
export function revert(now: object, then: Readonly<Record<string, unknown>>): JsonPatch {
  return recorded.flatMap((field): JsonPatch => {
    const path = `/spec/${field}`;
    if (then[field] !== undefined)
      return [{ op: 'add' as const, path, value: withoutDirectives(then[field]) }];
    return field in now ? [{ op: 'remove' as const, path }] : [];
  });
}

/** Revisions of upstream's operator hold directives of strategic merge patches. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => field !== '$patch')
      .map(([field, inner]) => [field, withoutDirectives(inner)]),
  );
}

/** Goes back to the template of the previous revision. */
async function undo(session: Session, line: CommandLine): Promise<number> {
  const set = await nodeSetOf(session, line.args[0]);
  const client = await session.client();
  const { namespace, name, uid } = set.metadata;
  const { isUnseen } = await import('./rollout-progress.ts');
  // Until then nodeSetHash names the revision before the newest change, and the one before that would be chosen.
  if (isUnseen(set))
    throw new CliError(
      `The operator has not seen the newest change of NodeSet ${name} yet, so its previous revision is not known: try again in a few seconds.`,
    );
  const { items } = await client.list(controllerRevisions, { namespace, signal: session.signal });
  const mine = items
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
    .toSorted((a, b) => b.revision - a.revision);
  const current = set.status?.nodeSetHash ?? '';
  const previous = mine.find(({ metadata }) => metadata.labels?.[label.revision] !== current);
  const { spec: then } = (previous?.data ?? {}) as { readonly spec?: Readonly<Record<string, unknown>> };
  if (previous === undefined || then === undefined)
    throw new CliError(
      `NodeSet ${name} has no earlier revision to go back to: apply the earlier manifest instead.`,
    );
  const old = (
    await client.list(pods, {
      namespace,
      labelSelector: `${label.revision}=${current}`,
      signal: session.signal,
    })
  ).items;
  await session.confirm(
    `go back to revision ${previous.metadata.labels?.[label.revision] ?? previous.metadata.name} of NodeSet ${name}: ${count(old.length, 'worker')} (${hosts(
      old.map(({ metadata }) => metadata.name),
      20,
    )}) are drained and replaced`,
  );
  await client.patch(
    nodeSets,
    { namespace, name },
    { type: 'json', body: revert(set.spec, then) },
    { signal: session.signal },
  );
  session.printDone([{ object: `nodeset/${name}`, result: `rolled back to revision ${previous.revision}` }]);
  return exitCode.good;
}

const common = {
  group: 'change',
  usage: 'nodeset/NAME',
  completes: 'nodesets',
  needs: writeNodeSets,
} as const;

export const rollout: readonly Command[] = [
  {
    ...common,
    name: 'rollout status',
    summary: 'Say how far a rollout is; exit code 0 when it is over',
    flags: [
      {
        name: 'watch',
        short: 'w',
        description: 'Wait until it is over, or waits for you or for a maintenance window.',
      },
      { name: 'timeout', value: 'SECONDS', description: 'Wait at most so long. Default: a day.' },
    ],
    examples: ['rollout status nodeset/gpu', 'rollout status nodeset/gpu --timeout 3600'],
    role: 'viewer',
    needs: readObjects,
    run: showStatus,
  },
  {
    ...common,
    name: 'rollout pause',
    summary: 'Pause a rollout: no further worker is replaced',
    flags: [],
    examples: ['rollout pause nodeset/gpu'],
    role: 'admin',
    run: (session, line) => setPaused(session, line, true),
  },
  {
    ...common,
    name: 'rollout resume',
    summary: 'Continue a paused rollout',
    flags: [],
    examples: ['rollout resume nodeset/gpu'],
    role: 'admin',
    run: (session, line) => setPaused(session, line, false),
  },
  {
    ...common,
    name: 'rollout undo',
    summary: 'Go back to the previous revision',
    flags: [],
    examples: ['rollout undo nodeset/gpu'],
    role: 'admin',
    run: undo,
  },
];
