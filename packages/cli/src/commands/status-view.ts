/** The tree of `status`, as data: what each object is, how it is, and what is worth saying about it. Pure. */
import { count, hosts, moment, type Values } from '@slurm-operator/advice';
import { annotation, conditionType, label } from '@slurm-operator/api';
import type { Tone } from '../output/style.ts';

export interface Line {
  readonly depth: number;
  readonly symbol: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly tone: Tone;
  readonly age: string;
  readonly info: string;
}

export interface StatusInput
  extends Pick<Values, 'controllers' | 'nodeSets' | 'loginSets' | 'accountings' | 'restApis' | 'pods'> {
  readonly cluster: Values['clusters'][number];
  /** For how long no operator has been running: what objects say is as old. */
  readonly silence?: number | undefined;
}

export interface StatusOptions {
  readonly now: number;
  readonly timeZone: string;
  /** Every worker, not only those that need attention. */
  readonly verbose: boolean;
}

type Conditions = {
  readonly status?:
    | {
        readonly conditions?: readonly {
          readonly type: string;
          readonly status: string;
          readonly reason: string;
          readonly message: string;
        }[];
      }
    | undefined;
};
type Pod = Values['pods'][number];

const conditionOf = (object: Conditions, type: string) =>
  object.status?.conditions?.find((one) => one.type === type);
const mostWorkers = 12;

export function statusLines(input: StatusInput, options: StatusOptions): readonly Line[] {
  const { cluster } = input;
  const controller = cluster.spec.controllerRef?.name;
  const mine = <T extends { readonly spec: { readonly controllerRef?: { readonly name?: string } } }>(
    list: readonly T[],
  ) => list.filter(({ spec }) => spec.controllerRef?.name === controller);
  const age = (created: string) => shortSpan(options.now - Date.parse(created));
  const lines: Line[] = [];
  const add = (
    depth: number,
    symbol: string,
    object: Conditions & {
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly creationTimestamp: string };
    },
    info: string,
  ) => {
    const [status, tone] = health(object);
    const { name, creationTimestamp } = object.metadata;
    lines.push({ depth, symbol, name, kind: object.kind, status, tone, age: age(creationTimestamp), info });
  };
  const main = input.controllers.find(({ metadata }) => metadata.name === controller);
  if (main !== undefined) add(0, '◇', main, main.spec.external ? 'runs elsewhere' : reasonInfo(main));
  else add(0, '◇', cluster, cluster.spec.server ?? '');
  const accounting = main?.spec.accountingRef?.name;
  for (const object of input.accountings.filter(({ metadata }) => metadata.name === accounting))
    add(1, '▣', object, reasonInfo(object) || databaseInfo(object));
  for (const object of mine(input.restApis)) add(1, '▣', object, reasonInfo(object));
  for (const set of mine(input.nodeSets)) {
    const workers = input.pods.filter((pod) =>
      pod.metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid),
    );
    add(1, '⧉', set, nodeSetInfo(set, workers, options));
    const shown = workers
      .map((pod) => workerLine(pod, set.status?.nodeSetHash ?? '', options))
      .filter(({ tone }) => options.verbose || tone !== 'good')
      .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
    lines.push(...(options.verbose ? shown : shown.slice(0, mostWorkers)));
    const hidden = shown.slice(mostWorkers);
    if (!options.verbose && hidden.length > 0)
      lines.push({
        depth: 2,
        symbol: '…',
        name: `${hidden.length} more`,
        kind: '',
        status: '',
        tone: 'quiet',
        age: '',
        info: hosts(
          hidden.map(({ name }) => name),
          20,
        ),
      });
  }
  for (const object of mine(input.loginSets)) add(1, '⌂', object, reasonInfo(object));
  return lines;
}

function health(object: Conditions): readonly [string, Tone] {
  const ready = conditionOf(object, conditionType.ready);
  const degraded = conditionOf(object, conditionType.degraded);
  const progressing = conditionOf(object, conditionType.progressing);
  if (ready === undefined) return ['◌ Unknown', 'quiet'];
  if (degraded?.status === 'True') return [`✖ ${degraded.reason}`, 'bad'];
  if (progressing?.status === 'True') return [`◌ ${progressing.reason}`, 'warning'];
  const applied = conditionOf(object, conditionType.configApplied);
  // It runs with the configuration of before.
  if (applied?.status === 'False' && /^Config(Rejected|Untried|Held)$/.test(applied.reason))
    return [`! ${applied.reason}`, 'warning'];
  if (ready.status === 'True') return ['✔ Ready', 'good'];
  return [`✖ ${ready.reason}`, 'bad'];
}

/** The message of the condition that `health` shows, unless nothing is wrong. */
function reasonInfo(object: Conditions): string {
  const shown = [conditionType.degraded, conditionType.progressing]
    .map((type) => conditionOf(object, type))
    .find((one) => one?.status === 'True');
  const ready = conditionOf(object, conditionType.ready);
  const applied = conditionOf(object, conditionType.configApplied);
  if (shown === undefined && ready?.status !== 'False' && applied?.status === 'False') return applied.message;
  return shown?.message ?? (ready?.status === 'False' ? ready.message : '');
}

function databaseInfo(object: Conditions): string {
  return conditionOf(object, conditionType.databaseReachable)?.status === 'True' ? 'database reachable' : '';
}

function nodeSetInfo(
  set: Values['nodeSets'][number],
  workers: readonly Pod[],
  options: StatusOptions,
): string {
  const { status, spec } = set;
  const ready = status?.readyReplicas ?? 0;
  const desired = status?.desired ?? spec.replicas ?? workers.length;
  const updated = status?.updatedReplicas ?? 0;
  const draining = workers.filter((pod) => slurmState(pod).drain.startsWith('slurm-operator:'));
  const ends = draining
    .map((pod) => Date.parse(pod.metadata.annotations?.[annotation.podDeadline] ?? ''))
    .filter((at) => !Number.isNaN(at));
  return [
    `${ready}/${desired} ready`,
    updated < desired && `${updated} updated`,
    (status?.slurmAllocated ?? 0) > 0 && `${status?.slurmAllocated} with jobs`,
    (status?.slurmDrain ?? 0) > 0 && `${status?.slurmDrain} drained`,
    (status?.slurmDown ?? 0) > 0 && `${status?.slurmDown} down`,
    ends.length > 0 && `jobs end by ${moment(Math.max(...ends), options)}`,
  ]
    .filter((part) => part !== false)
    .join(' · ');
}

/** What Slurm says of a worker, from the conditions of its pod. */
export function slurmState(pod: Pod): {
  readonly states: readonly string[];
  readonly reason: string;
  readonly drain: string;
} {
  const prefix = 'SlurmNodeState';
  const mine = (pod.status?.conditions ?? []).filter(
    ({ type, status }) => type.startsWith(prefix) && status === 'True',
  );
  const drain = mine.find(({ type }) => type === `${prefix}Drain`);
  return {
    states: mine.map(({ type }) => type.slice(prefix.length)),
    reason: mine.find(({ message }) => (message ?? '') !== '')?.message ?? '',
    drain: drain === undefined ? '' : (drain.message ?? '') || 'no reason',
  };
}

function workerLine(pod: Pod, revision: string, options: StatusOptions): Line {
  const { states, reason, drain } = slurmState(pod);
  const name = pod.metadata.labels?.[label.podHostname] ?? pod.metadata.name;
  const end = Date.parse(pod.metadata.annotations?.[annotation.podDeadline] ?? '');
  const isBusy = states.some((state) => ['Allocated', 'Mixed', 'Completing'].includes(state));
  const isOld = revision !== '' && pod.metadata.labels?.[label.revision] !== revision;
  const [status, tone]: readonly [string, Tone] = podHealth(pod, states, drain);
  const info = [
    isBusy && (Number.isNaN(end) ? 'has jobs' : `jobs end by ${moment(end, options)}`),
    reason !== '' && `"${reason}"`,
    isOld && 'old revision',
    pod.spec?.nodeName !== undefined && `on ${pod.spec.nodeName}`,
  ].filter((part) => part !== false);
  return {
    depth: 2,
    symbol: '□',
    name,
    kind: 'Pod',
    status,
    tone,
    age: shortSpan(options.now - Date.parse(pod.metadata.creationTimestamp ?? '')),
    info: info.join(' · '),
  };
}

function podHealth(pod: Pod, states: readonly string[], drain: string): readonly [string, Tone] {
  const waiting = [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? []),
  ].find(({ state }) => state?.waiting !== undefined)?.state?.waiting?.reason;
  if (pod.metadata.deletionTimestamp !== undefined) return ['◌ Terminating', 'warning'];
  if (waiting !== undefined && !/ContainerCreating|PodInitializing/.test(waiting))
    return [`✖ ${waiting}`, 'bad'];
  if (pod.status?.phase === 'Pending') return ['◌ Pending', 'warning'];
  if (states.includes('Down')) return ['✖ Down', 'bad'];
  if (states.includes('NotResponding')) return ['✖ NotResponding', 'bad'];
  const busy = states.some((state) => ['Allocated', 'Mixed', 'Completing'].includes(state));
  if (drain !== '') return [busy ? '◌ Draining' : '◌ Drained', 'warning'];
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (ready !== true) return ['◌ Starting', 'warning'];
  return states.length === 0 ? ['◌ NotRegistered', 'warning'] : [`✔ ${busy ? 'Busy' : 'Idle'}`, 'good'];
}

/** `41d`, `3h`, `12m`, `5s`: as kubectl writes ages. */
export function shortSpan(ms: number): string {
  if (Number.isNaN(ms)) return '';
  const seconds = Math.max(0, Math.floor(ms / 1000));
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
  ] as const)
    if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}

/** Of the cluster, else the worst in the tree: what is below must not be worse than what is said above it. */
function overallHealth({ cluster, silence }: StatusInput, tree: readonly Line[]): readonly [string, Tone] {
  const ready = conditionOf(cluster, conditionType.ready);
  const degraded = conditionOf(cluster, conditionType.degraded);
  if (degraded?.status === 'True') return [`✖ ${degraded.reason}`, 'bad'];
  if (cluster.status?.isReady !== true || ready?.status === 'False')
    return [
      `✖ ${ready?.reason ?? conditionOf(cluster, conditionType.slurmConnected)?.reason ?? 'Unknown'}`,
      'bad',
    ];
  if (silence !== undefined) return ['! NoOperator', 'warning'];
  for (const tone of ['bad', 'warning', 'quiet'] as const) {
    const all = tree.filter((line) => line.tone === tone);
    // A NodeSet says what its workers say.
    const objects = all.filter(({ depth }) => depth < 2);
    const [first, ...more] = objects.length > 0 ? objects : all;
    if (first !== undefined)
      return [more.length === 0 ? first.status : `${first.status} and ${more.length} more`, tone];
  }
  return ['✔ Ready', 'good'];
}

/** What is drained, starts or ends does not fail, unless that is asked for. */
export const areHealthy = (tree: readonly Line[], strict: boolean): boolean =>
  tree.every(({ tone }) => tone !== 'bad' && !(strict && tone === 'warning'));

/** The two lines above the tree, of which every line is given. */
export function headline(
  input: StatusInput,
  tree: readonly Line[],
): {
  readonly title: string;
  readonly counts: string;
  readonly health: string;
  readonly tone: Tone;
} {
  const { status, metadata } = input.cluster;
  const [health_, tone] = overallHealth(input, tree);
  const { nodes, jobs } = status ?? {};
  const parts = [
    nodes === undefined
      ? undefined
      : `${count(nodes.total ?? 0, 'node')}: ${
          [
            [nodes.idle, 'idle'],
            [nodes.allocated, 'with jobs'],
            [nodes.drained, 'drained'],
            [nodes.down, 'down'],
          ]
            .filter(([number]) => Number(number ?? 0) > 0)
            .map(([number, word]) => `${number} ${word}`)
            .join(', ') || 'none in use'
        }`,
    jobs === undefined ? undefined : `jobs: ${jobs.running ?? 0} running, ${jobs.pending ?? 0} pending`,
  ].filter((part) => part !== undefined);
  return {
    title: `${metadata.name} · Slurm ${status?.slurmVersion ?? 'version unknown'} · namespace ${metadata.namespace}`,
    counts: parts.join('   '),
    health: health_,
    tone,
  };
}
