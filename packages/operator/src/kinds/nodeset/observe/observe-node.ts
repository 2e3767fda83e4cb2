/** A Kubernetes Node, as the plan sees it. Nodes are only read, never written. */
import { annotation } from '@slurm-operator/api';
import type { DeepReadonly, Node } from '@slurm-operator/kube';
import { cleanReason } from '@slurm-operator/slurm';
import { conditionText, drainingConditions, type NodeConditionRule } from '../model/node-conditions.ts';
import type { KubeNode } from '../model/observed.ts';
import type { Placement } from '../objects/worker-placement.ts';
import { fitsNode, mayStayOn } from './fits-node.ts';

/** A kubelet that is back needs a moment to report on its pods; until then they are hearsay. */
const settlingTime = 30_000;

/** A Node counts as reachable once it has been Ready for long enough. */
export function isNodeReachable(node: DeepReadonly<Node> | undefined, now: number): boolean {
  if (node === undefined) return false;
  const { ready, since, created } = readinessOf(node);
  if (!ready) return false;
  // A machine that has just joined has no past to report.
  return Number.isNaN(since) || now - since >= settlingTime || since - created < settlingTime;
}

interface Readiness {
  readonly ready: boolean;
  readonly since: number;
  readonly created: number;
}

/** Of objects that never change: asked for every worker at every look, so their times are read once. */
const readiness = new WeakMap<DeepReadonly<Node>, Readiness>();

function readinessOf(node: DeepReadonly<Node>): Readiness {
  const known = readiness.get(node);
  if (known !== undefined) return known;
  const condition = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const read = {
    ready: condition?.status === 'True',
    since: Date.parse(condition?.lastTransitionTime ?? ''),
    created: Date.parse(node.metadata?.creationTimestamp ?? ''),
  };
  readiness.set(node, read);
  return read;
}

export function observeNode(
  node: DeepReadonly<Node>,
  placement: Placement,
  propagatedConditions: readonly NodeConditionRule[],
): KubeNode {
  const name = node.metadata?.name ?? '';
  const notes = node.metadata?.annotations ?? {};
  return {
    name,
    uid: node.metadata?.uid ?? '',
    unschedulable: node.spec?.unschedulable === true,
    cordonReason: cordonReasonOf(node, propagatedConditions),
    drainingConditions: drainingConditions(node.status?.conditions ?? [], propagatedConditions),
    topology: oneLine(notes[annotation.topology]),
    features: (notes[annotation.features] ?? '')
      .split(',')
      .map((feature) => feature.trim())
      .filter(isFeature),
    eligible: fitsNode(placement, node),
    mayStay: mayStayOn(placement, node),
    workerHostname: placement.hostNetwork ? name : podHostname(name, notes[annotation.hostnameOverride]),
  };
}

function cordonReasonOf(
  node: DeepReadonly<Node>,
  propagated: readonly NodeConditionRule[],
): string | undefined {
  const written = cleanReason(node.metadata?.annotations?.[annotation.nodeCordonReason] ?? '');
  if (written !== '') return written;
  const conditions = (node.status?.conditions ?? []).filter((condition) =>
    propagated.some(({ type, status }) => condition.type === type && condition.status === status),
  );
  return conditions.length === 0 ? undefined : cleanReason(conditions.map(conditionText).join('; '));
}

/** A pod in the network of its machine has the machine's own host name, dots and all, and nothing overrides it. */
function podHostname(node: string, override: string | undefined): string {
  return hostnameOf(override) ?? (isAddress(node) ? node.replaceAll('.', '-') : firstLabel(node));
}

const firstLabel = (node: string): string => node.split('.')[0] ?? node;

/** Some providers name machines by their address: the first part of it is that of all the others, too. */
const isAddress = (node: string): boolean => /^\d{1,3}(\.\d{1,3}){3}$/.test(node);

/** What would not be a host name would not be a Slurm node either: it is ignored, and the Node's own name serves. */
function hostnameOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text) ? text : undefined;
}

function isFeature(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/.test(text);
}

function oneLine(text: string | undefined): string | undefined {
  return text !== undefined && /^[A-Za-z0-9_.:,=/-]{1,256}$/.test(text) ? text : undefined;
}

/**
 * DaemonSet mode: a worker is called like the first part of its Node's name. Where two Nodes share it (`node1.rack1`, `node1.rack2`), the one
 * that was there first keeps it, and the others get their whole names, with dashes. `createdAt` in milliseconds.
 */
export function distinctHostnames(
  nodes: ReadonlyMap<string, KubeNode>,
  createdAt: (node: string) => number,
): ReadonlyMap<string, KubeNode> {
  if (new Set(nodes.values().map((node) => node.workerHostname)).size === nodes.size) return nodes;
  const byHostname = Map.groupBy(nodes.values(), (node) => node.workerHostname);
  const distinct = new Map(nodes);
  for (const alike of byHostname.values()) {
    const [, ...later] = alike.toSorted(
      (a, b) => createdAt(a.name) - createdAt(b.name) || (a.name < b.name ? -1 : 1),
    );
    for (const node of later) distinct.set(node.name, { ...node, workerHostname: wholeName(node.name) });
  }
  return distinct;
}

/** A host name has at most 63 characters; the end of the name tells two Nodes apart. */
function wholeName(node: string): string {
  return node.replaceAll('.', '-').slice(-63).replace(/^-+/, '');
}
