/** How every object of ours is, for Prometheus: read from the caches at each scrape, so that what is gone is gone. */
import { conditionType } from '@slurm-operator/api';
import type { Cache, Condition, Live } from '@slurm-operator/kube';
import { Gauge, type Registry } from 'prom-client';
import { clusters, everyKind } from '../cache/resources.ts';

type WithConditions = Live & { readonly status?: { readonly conditions?: readonly Condition[] } };

export function exposeObjects(cache: Cache, registry: Registry): void {
  const registers = [registry];
  const ready = new Gauge({
    name: 'slurm_operator_object_ready',
    help: '1 if the object is Ready',
    labelNames: ['kind', 'namespace', 'name'],
    registers,
    collect() {
      ready.reset();
      for (const resource of everyKind)
        for (const { kind, metadata, status } of cache.list(resource) as readonly WithConditions[]) {
          const condition = status?.conditions?.find(({ type }) => type === conditionType.ready);
          const labels = {
            kind: kind ?? resource.kind,
            namespace: metadata.namespace ?? '',
            name: metadata.name,
          };
          ready.set(labels, condition?.status === 'True' ? 1 : 0);
        }
    },
  });
  const nodes = new Gauge({
    name: 'slurm_operator_cluster_nodes',
    help: 'Nodes of a Slurm cluster in its last report',
    labelNames: ['namespace', 'cluster', 'state'],
    registers,
    collect() {
      nodes.reset();
      for (const { metadata, status } of cache.list(clusters))
        for (const [state, count] of Object.entries(status?.nodes ?? {}))
          nodes.set({ namespace: metadata.namespace, cluster: metadata.name, state }, count);
    },
  });
  const jobs = new Gauge({
    name: 'slurm_operator_cluster_jobs',
    help: 'Jobs of a Slurm cluster in its last report',
    labelNames: ['namespace', 'cluster', 'state'],
    registers,
    collect() {
      jobs.reset();
      for (const { metadata, status } of cache.list(clusters))
        for (const [state, count] of Object.entries(status?.jobs ?? {}))
          jobs.set({ namespace: metadata.namespace, cluster: metadata.name, state }, count);
    },
  });
}
