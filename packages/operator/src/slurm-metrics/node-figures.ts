/** What a list of nodes says, as series: one per node, and one more for each that is out of service. Pure. */
import type { Sample } from '@slurm-operator/kube';
import { isBusy, isDown, isDrain, isMaintenance, type SlurmNode } from '@slurm-operator/slurm';
import { type DrainClass, drainClass, drainClasses } from './drain-class.ts';

export const nodeStates = [
  'idle',
  'mixed',
  'allocated',
  'completing',
  'draining',
  'drained',
  'down',
  'maintenance',
  'powering_up',
  'powering_down',
  'powered_down',
  'not_responding',
  'future',
  'external',
  'unknown',
] as const;
export type NodeStateName = (typeof nodeStates)[number];

/** One word for a node: the part of its state that explains best why it takes no jobs. */
export function nodeStateName({ state }: Pick<SlurmNode, 'state'>): NodeStateName {
  const { base, flags } = state;
  if (isDown(state) || base === 'ERROR' || flags.has('FAIL')) return 'down';
  if (isDrain(state)) return isBusy(state) ? 'draining' : 'drained';
  if (flags.has('POWERED_DOWN')) return 'powered_down';
  if (flags.has('POWERING_DOWN') || flags.has('POWER_DOWN')) return 'powering_down';
  if (flags.has('POWERING_UP') || flags.has('POWER_UP')) return 'powering_up';
  if (isMaintenance(state)) return 'maintenance';
  if (flags.has('NOT_RESPONDING')) return 'not_responding';
  if (base === 'ALLOCATED') return 'allocated';
  if (base === 'MIXED') return 'mixed';
  if (flags.has('COMPLETING')) return 'completing';
  if (base === 'IDLE') return 'idle';
  if (base === 'FUTURE') return 'future';
  return base === 'EXTERNAL' ? 'external' : 'unknown';
}

/** A static node, or one outside of Kubernetes, belongs to no NodeSet. */
const nodeSetIn = (comment: string): string => /"nodeSetName":"([-a-z0-9.]+)"/.exec(comment)?.[1] ?? '';

export interface ClusterLabels {
  readonly namespace: string;
  readonly cluster: string;
}

interface NodeFigures {
  readonly of: ClusterLabels;
  readonly sample: Sample;
  readonly state: NodeStateName;
  /** Of a node that is drained, draining or down. */
  readonly out:
    | {
        readonly class: DrainClass;
        readonly since: number | undefined;
        readonly labels: Sample['labels'];
      }
    | undefined;
}

/** Nodes of a list are replaced, never changed: each is read once. */
const read = new WeakMap<SlurmNode, NodeFigures>();

function figuresOf(of: ClusterLabels, node: SlurmNode): NodeFigures {
  const known = read.get(node);
  if (known?.of === of) return known;
  const state = nodeStateName(node);
  const isOut = state === 'down' || state === 'drained' || state === 'draining';
  const { namespace, cluster } = of;
  const labels = { namespace, cluster, nodeset: nodeSetIn(node.comment), node: node.name, state };
  const by = drainClass(node);
  const figures: NodeFigures = {
    of,
    state,
    sample: { labels, value: 1 },
    out: isOut ? { class: by, since: node.reasonSetAt, labels: { ...labels, class: by } } : undefined,
  };
  read.set(node, figures);
  return figures;
}

export const stateSamples = (labels: ClusterLabels, nodes: readonly SlurmNode[]): Sample[] =>
  nodes.map((node) => figuresOf(labels, node).sample);

/** Since Slurm got the reason: a restart of the operator changes nothing. A node without a time of its reason has no series. */
export function outOfServiceSamples(
  labels: ClusterLabels,
  nodes: readonly SlurmNode[],
  now: number,
): Sample[] {
  return nodes.flatMap((node) => {
    const { out } = figuresOf(labels, node);
    if (out?.since === undefined) return [];
    return { labels: out.labels, value: Math.max(0, (now - out.since) / 1000) };
  });
}

/** Every class, also those that no node has: an alert needs the zero. */
export function drainedSamples(labels: ClusterLabels, nodes: readonly SlurmNode[]): Sample[] {
  const counts = new Map<DrainClass, number>(drainClasses.map((each) => [each, 0]));
  for (const node of nodes) {
    const { state, out } = figuresOf(labels, node);
    if (out !== undefined && state !== 'down') counts.set(out.class, (counts.get(out.class) ?? 0) + 1);
  }
  const { namespace, cluster } = labels;
  return [...counts].map(([each, value]) => ({ labels: { namespace, cluster, class: each }, value }));
}
