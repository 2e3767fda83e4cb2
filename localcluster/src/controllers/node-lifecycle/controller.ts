/** Nodes that fall silent are marked, and their pods are deleted when what they tolerate is over. */
import type { Manager } from '@slurm-operator/kube';
import { leases, nodes, pods } from '../../objects/objects.ts';
import { NodeMonitor } from './node-monitor.ts';
import { defaultGraceMs, podsByNode } from './plan.ts';
import { TaintEviction } from './taint-eviction.ts';

export interface NodeLifecycleOptions {
  /** @default 50 s, as in a real cluster */
  readonly graceMs?: number;
}

export function addNodeLifecycleController(manager: Manager, options: NodeLifecycleOptions = {}): void {
  const { cache } = manager;
  const monitor = new NodeMonitor(manager, options.graceMs ?? defaultGraceMs);
  const eviction = new TaintEviction(manager);
  cache.informer(leases);
  cache
    .informer(pods)
    .addIndex(podsByNode, (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]));

  manager
    .controller('node-lifecycle')
    .for(nodes)
    .watches(leases, (lease) =>
      lease.metadata.namespace === 'kube-node-lease' ? [{ name: lease.metadata.name }] : [],
    )
    .reconcile((request, context) => monitor.reconcile(request, context));

  manager
    .controller('taint-eviction')
    .for(pods)
    .watches(nodes, (node) => cache.byIndex(pods, podsByNode, node.metadata.name).map((pod) => pod.metadata))
    .reconcile((request, context) => eviction.reconcile(request, context));
}
