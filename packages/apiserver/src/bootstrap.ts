/** What a fresh server holds before the first request. */

import { untyped } from './api/typed.ts';
import { type KubeObject, timestamp } from './api/types.ts';
import { refreshAggregates } from './authorization/aggregate-roles.ts';
import { bootstrapRbacObjects } from './authorization/bootstrap-roles.ts';
import { fillNamespace } from './housekeeping/namespace-content.ts';
import type { ServerParts } from './resource/request-context.ts';

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export function bootstrap(parts: ServerParts): void {
  for (const name of namespaces) {
    const namespace: KubeObject = {
      kind: 'Namespace',
      apiVersion: 'v1',
      metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
    storeMissing(parts, '/namespaces', namespace);
    fillNamespace(parts, name);
  }
  for (const object of systemPriorityClasses())
    storeMissing(parts, 'scheduling.k8s.io/priorityclasses', object);
  for (const { resource, object } of bootstrapRbacObjects()) storeMissing(parts, resource, untyped(object));
  refreshAggregates(parts.store);
}

function systemPriorityClasses(): KubeObject[] {
  const of = (name: string, value: number, description: string): KubeObject => ({
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    metadata: { name, generation: 1 },
    value,
    description,
    preemptionPolicy: 'PreemptLowerPriority',
  });
  return [
    of(
      'system-cluster-critical',
      2_000_000_000,
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    ),
    of(
      'system-node-critical',
      2_000_001_000,
      'Used for system critical pods that must not be moved from their current node.',
    ),
  ];
}

function storeMissing({ store, environment }: ServerParts, resource: string, object: KubeObject): void {
  if (store.get(resource, undefined, object.metadata.name ?? '') !== undefined) return;
  object.metadata.uid = environment.uuid();
  object.metadata.creationTimestamp = timestamp(environment.now());
  store.create(resource, object);
}
