/** nodes: one row per Slurm node; from Slurm, or from the conditions of the worker pods where Slurm cannot be asked. */
import { jobsByNode, moment, quote, span } from '@slurm-operator/advice';
import { annotation, label } from '@slurm-operator/api';
import { pods } from '@slurm-operator/kube';
import {
  isBusy,
  isDown,
  isDrain,
  isNotResponding,
  jobDeadline,
  type SlurmJob,
  type SlurmNode,
} from '@slurm-operator/slurm';
import type { Command } from '../command-line/command.ts';
import { exitCode, toExit } from '../errors.ts';
import type { CommandLine } from '../line.ts';
import type { Tone } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import type { Session } from '../session/session.ts';
import { reachSlurm, readObjects } from './needs.ts';
import { slurmState } from './status-view.ts';

interface NodeRow {
  readonly name: string;
  readonly state: string;
  readonly partitions: string;
  readonly cpus: string;
  readonly memory: string;
  readonly gpus: string;
  readonly jobs: string;
  readonly until: string;
  readonly reason: string;
  readonly pod: string;
  readonly machine: string;
  readonly tone: Tone;
}

type PodView = { readonly pod: string; readonly machine: string };

function stateOf({ state }: SlurmNode): string {
  const words = [state.base.toLowerCase()];
  const drain = isBusy(state) ? 'draining' : 'drained';
  // A node that is down is down, whether it is drained or not.
  if (isDrain(state) && isDown(state)) words.push(drain);
  else if (isDrain(state)) words[0] = drain;
  if (isNotResponding(state)) words.push('not responding');
  for (const [flag, word] of [
    ['INVALID_REG', 'invalid registration'],
    ['MAINTENANCE', 'maintenance'],
    ['COMPLETING', 'completing'],
    ['POWERED_DOWN', 'powered down'],
    ['FAIL', 'fail'],
  ] as const)
    if (state.flags.has(flag)) words.push(word);
  return words.join(', ');
}

function fromSlurm(
  node: SlurmNode,
  jobs: readonly SlurmJob[],
  at: PodView | undefined,
  session: Session,
): NodeRow {
  const ends = jobs.map((job) => jobDeadline(job)).filter((end) => typeof end === 'number');
  const gpu = /gpu(?::[\w-]+)?:(\d+)/.exec(node.gres)?.[1];
  const used = /gpu(?::[\w-]+)?:(\d+)/.exec(node.gresUsed)?.[1] ?? '0';
  const by =
    node.reasonSetBy === '' || node.reason.startsWith('slurm-operator:')
      ? ''
      : ` (${node.reasonSetBy}${node.reasonSetAt === undefined ? '' : `, ${span(session.io.now() - node.reasonSetAt)} ago`})`;
  return {
    name: node.name,
    state: stateOf(node),
    partitions: node.partitions.join(','),
    cpus: `${node.allocatedCpus}/${node.cpus}`,
    memory: `${gigabytes(node.allocatedMemory)}/${gigabytes(node.memory)}G`,
    gpus: gpu === undefined ? '' : `${used}/${gpu}`,
    jobs: jobs.length === 0 ? '' : String(jobs.length),
    until: jobs.some((job) => job.timeLimit === 'infinite')
      ? 'no limit'
      : ends.length === 0
        ? ''
        : moment(Math.max(...ends), { now: session.io.now(), timeZone: session.io.timeZone }),
    reason: node.reason === '' ? '' : `${quote(node.reason, 120)}${by}`,
    pod: at?.pod ?? '',
    machine: at?.machine ?? '',
    tone:
      isDown(node.state) || isNotResponding(node.state) ? 'bad' : isDrain(node.state) ? 'warning' : 'plain',
  };
}

const gigabytes = (megabytes: number): string => String(Math.round(megabytes / 1024));

async function rows(session: Session): Promise<readonly NodeRow[]> {
  const client = await session.client();
  const { metadata } = await session.cluster();
  const { items } = await client.list(pods, {
    namespace: metadata.namespace,
    labelSelector: 'app.kubernetes.io/component=worker',
    signal: session.signal,
  });
  const name = (pod: (typeof items)[number]) => pod.metadata.labels?.[label.podHostname] ?? pod.metadata.name;
  const places = new Map(
    items.map((pod) => [name(pod), { pod: pod.metadata.name, machine: pod.spec?.nodeName ?? '' }]),
  );
  try {
    const slurm = await session.slurm();
    const options = { signal: session.signal };
    const [nodes, jobs] = await Promise.all([slurm.nodes.list(options), slurm.jobs.list(options)]);
    const work = jobsByNode(jobs.items);
    return nodes.items.map((node) =>
      fromSlurm(node, work.get(node.name) ?? [], places.get(node.name), session),
    );
  } catch (error) {
    if (session.line.has('partition')) throw error;
    session.note(`From the worker pods only. ${toExit(error).message}`);
    return items.map((pod) => {
      const { states, reason } = slurmState(pod);
      const end = Date.parse(pod.metadata.annotations?.[annotation.podDeadline] ?? '');
      const at = places.get(name(pod));
      return {
        name: name(pod),
        state: states.map((state) => state.toLowerCase()).join(', ') || 'unknown',
        partitions: '',
        cpus: '',
        memory: '',
        gpus: '',
        jobs: '',
        until: Number.isNaN(end) ? '' : moment(end, { now: session.io.now(), timeZone: session.io.timeZone }),
        reason,
        pod: at?.pod ?? '',
        machine: at?.machine ?? '',
        tone: states.includes('Down')
          ? ('bad' as const)
          : states.includes('Drain')
            ? ('warning' as const)
            : ('plain' as const),
      };
    });
  }
}

const columns = (gpus: boolean, why: boolean): readonly Column<NodeRow>[] => [
  { name: 'NODE', value: ({ name }) => name },
  { name: 'STATE', value: ({ state }) => state, tone: ({ tone }) => tone },
  { name: 'PARTITIONS', value: ({ partitions }) => partitions },
  { name: 'CPUS', value: ({ cpus }) => cpus, right: true },
  { name: 'MEMORY', value: ({ memory }) => memory, right: true },
  ...(gpus ? [{ name: 'GPUS', value: ({ gpus: text }: NodeRow) => text, right: true }] : []),
  { name: 'JOBS', value: ({ jobs }) => jobs, right: true },
  { name: 'UNTIL', value: ({ until }) => until },
  { name: 'POD', value: ({ pod }) => pod, wide: true },
  { name: 'MACHINE', value: ({ machine }) => machine, wide: true },
  { name: 'REASON', value: ({ reason }) => reason, wide: !why },
];

async function run(session: Session, line: CommandLine): Promise<number> {
  const partition = line.text('partition');
  const state = line.text('state')?.toLowerCase();
  const all = await rows(session);
  const chosen = all
    .filter((row) => partition === undefined || row.partitions.split(',').includes(partition))
    .filter((row) => state === undefined || row.state.includes(state))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
  const reasons = line.has('why') || chosen.some(({ reason }) => reason !== '');
  session.print(
    'Node',
    chosen,
    columns(
      chosen.some(({ gpus }) => gpus !== ''),
      reasons,
    ),
    ({ name }) => `node/${name}`,
    all.length === 0 ? 'Slurm has no nodes.' : 'No node matches.',
  );
  return exitCode.good;
}

export const nodes: Command = {
  name: 'nodes',
  group: 'nodes',
  summary: 'List Slurm nodes: state, use, jobs and until when, reason',
  usage: '',
  flags: [
    { name: 'partition', short: 'p', value: 'NAME', description: 'Only nodes of this partition.' },
    {
      name: 'state',
      value: 'STATE',
      description: 'Only nodes whose state contains this word, such as drained, down or idle.',
    },
    { name: 'why', description: 'Always show the reason.' },
  ],
  examples: ['nodes', 'nodes --state drained --why', 'nodes -p gpu -o wide'],
  slurm: 'optional',
  role: 'viewer',
  needs: [...readObjects, ...reachSlurm],
  run,
};
