/** drain and resume: Slurm nodes by name or hostlist. */
import { hosts } from '@slurm-operator/advice';
import { reasonPrefix } from '@slurm-operator/api';
import { cleanReason, expandHostlist, isBusy, isDown, isDrain, type SlurmNode } from '@slurm-operator/slurm';
import type { Command } from '../command-line/command.ts';
import { CliError, exitCode } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import type { Session } from '../session/session.ts';
import { timeoutOf, waitUntil } from '../session/wait-until.ts';
import { reachSlurm } from './needs.ts';

const pollMs = 2_000;

/** The nodes that the words name, as Slurm has them now. */
async function chosen(session: Session, words: readonly string[]): Promise<readonly SlurmNode[]> {
  if (words.length === 0) throw new CliError('Name nodes, such as gpu-3 or gpu-[3-7].');
  const names = [...new Set(words.flatMap((word) => expand(word.replace(/^node\//, ''))))];
  const { items } = await (await session.slurm()).nodes.list({ signal: session.signal });
  const byName = new Map(items.map((node) => [node.name, node]));
  const absent = names.filter((name) => !byName.has(name));
  if (absent.length > 0)
    throw new CliError(`Slurm has no node ${hosts(absent)}: kubectl slurm nodes lists those it has.`);
  return names.map((name) => byName.get(name) as SlurmNode);
}

function expand(word: string): readonly string[] {
  try {
    return expandHostlist(word);
  } catch (cause) {
    throw new CliError(`"${word}" is not a node or a hostlist such as gpu-[3-7].`, { cause });
  }
}

async function drainNodes(session: Session, line: CommandLine): Promise<number> {
  const reason = cleanReason(line.text('reason') ?? '');
  if (reason === '') throw new CliError('Give a --reason: others will ask why these nodes take no jobs.');
  if (reason.startsWith(reasonPrefix.trim()))
    throw new CliError(
      `A reason that begins with "${reasonPrefix.trim()}" is the operator's: it would undo the drain.`,
    );
  timeoutOf(session);
  const nodes = await chosen(session, line.args);
  const names = nodes.map(({ name }) => name);
  const busy = nodes.filter(({ state }) => isBusy(state));
  await session.confirm(
    `drain ${hosts(names)}: no new jobs start there${busy.length > 0 ? `, jobs on ${hosts(busy.map(({ name }) => name))} continue to their end` : ''}`,
  );
  const slurm = await session.slurm();
  await slurm.nodes.drain(names, reason, { signal: session.signal });
  // A job may have started since: only what Slurm says after the drain holds.
  const now = await chosen(session, names).catch(() => undefined);
  session.printDone(
    names.map((name) => {
      const node = now?.find((one) => one.name === name);
      return {
        object: `node/${name}`,
        result: node === undefined || isBusy(node.state) ? 'draining' : 'drained',
      };
    }),
  );
  if (!line.has('wait')) return exitCode.good;
  return waitFor(session, names, 'drained', ({ state }) => isDrain(state) && !isBusy(state));
}

async function resumeNodes(session: Session, line: CommandLine): Promise<number> {
  timeoutOf(session);
  const mayUndo = line.has('force');
  const names = (await resumable(session, line.args, mayUndo)).map(({ name }) => name);
  await session.confirm(`resume ${hosts(names)}: Slurm may start jobs there`);
  // The operator may have drained one while the person was asked.
  const nodes = await resumable(session, names, mayUndo);
  const slurm = await session.slurm();
  const options = { signal: session.signal };
  const idle = nodes.filter(({ state }) => !isDrain(state) && !isDown(state));
  for (const node of nodes) {
    if (idle.includes(node)) continue;
    // UNDRAIN ends a drain whatever runs there; a node that is down needs RESUME.
    if (isDown(node.state)) await slurm.nodes.resume(node.name, options);
    else await slurm.nodes.undrain(node.name, options);
  }
  session.printDone(
    nodes.map((node) => ({
      object: `node/${node.name}`,
      result: idle.includes(node) ? 'takes jobs already' : 'resumed',
    })),
  );
  if (!line.has('wait')) return exitCode.good;
  return waitFor(session, names, 'back', ({ state }) => !isDrain(state) && !isDown(state));
}

/** The nodes that the words name, none of which the operator drained. */
async function resumable(
  session: Session,
  words: readonly string[],
  mayUndo: boolean,
): Promise<readonly SlurmNode[]> {
  const nodes = await chosen(session, words);
  const ours = nodes.filter((node) => isDrain(node.state) && node.reason.startsWith(reasonPrefix));
  if (ours.length > 0 && !mayUndo)
    throw new CliError(
      `The operator drained ${hosts(ours.map(({ name }) => name))} ("${ours[0]?.reason ?? ''}") and would do so again: revert its cause (scale out, uncordon, kubectl slurm rollout pause), or use --force.`,
      { exitCode: exitCode.refused },
    );
  return nodes;
}

async function waitFor(
  session: Session,
  names: readonly string[],
  what: string,
  done: (node: SlurmNode) => boolean,
): Promise<number> {
  const timeoutSeconds = timeoutOf(session, 3_600);
  const slurm = await session.slurm();
  let left: readonly string[] = names;
  let told = '';
  const look = async () => {
    const { items } = await slurm.nodes.list({ signal: session.signal });
    const gone = names.filter((name) => !items.some((node) => node.name === name));
    if (gone.length > 0) throw new CliError(`Slurm no longer has ${hosts(gone)}.`);
    left = items.filter((node) => names.includes(node.name) && !done(node)).map(({ name }) => name);
    if (left.length === 0) return exitCode.good;
    const text = `waiting for ${hosts(left)}`;
    if (text !== told) session.note(text);
    told = text;
    return undefined;
  };
  return waitUntil<number>(session, look, {
    everyMs: pollMs,
    timeoutSeconds,
    tooLong: () =>
      new CliError(
        `After ${timeoutSeconds} s, ${hosts(left)} ${left.length === 1 ? 'is' : 'are'} not ${what} yet.`,
      ),
  });
}

const waitFlags = [
  { name: 'wait', description: 'Return when it is done.' },
  { name: 'timeout', value: 'SECONDS', description: 'How long to wait. Default: 3600.' },
] as const;

export const drain: Command = {
  name: 'drain',
  group: 'nodes',
  summary: 'Let no new jobs start on nodes; running jobs continue',
  usage: 'NODE… --reason TEXT',
  flags: [{ name: 'reason', value: 'TEXT', description: 'Why. Required.' }, ...waitFlags],
  examples: ['drain gpu-3 --reason "new disk"', 'drain gpu-[3-7] --reason maintenance --wait'],
  slurm: 'required',
  role: 'admin',
  needs: reachSlurm,
  completes: 'nodes',
  run: drainNodes,
};

export const resume: Command = {
  name: 'resume',
  group: 'nodes',
  summary: 'Let jobs start on nodes again',
  usage: 'NODE…',
  flags: [{ name: 'force', description: 'Also nodes that the operator drained.' }, ...waitFlags],
  examples: ['resume gpu-3', 'resume gpu-[3-7] --wait'],
  slurm: 'required',
  role: 'admin',
  needs: reachSlurm,
  completes: 'nodes',
  run: resumeNodes,
};
