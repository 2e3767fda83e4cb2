/**
 * The key by which the daemons of a cluster know each other, as far as controllers may know it: by its digest. Every pod that
 * holds it carries the digest in the annotation `slinky.slurm.net/slurm-key-hash`; slurmctld, slurmdbd and login nodes from their
 * template, which restarts them when it changes, and workers from the Controller, which tells them of a new key. A worker needs no
 * restart: the kubelet updates the file in its pod, slurmd reads it again on SIGHUP, and its jobs continue (docs/key-rotation.md).
 */
import { annotation, app, type Controller, label } from '@slurm-operator/api';
import { type Cache, type Live, type Pod, pods, secrets } from '@slurm-operator/kube';
import type { Read } from '../objects/read.ts';

/** The digest of the key that every daemon of this Controller should have by now; empty while there is none. */
export function slurmKeyDigest(cache: Cache, { metadata, spec }: Read<Controller>): string {
  const { name = '', key = '' } = spec.slurmKeyRef ?? {};
  return cache.get(secrets, { namespace: metadata.namespace, name })?.data?.[key] ?? '';
}

/** A worker, and the key that it was notified of; undefined for one that was not notified since it started. */
export interface WorkerKey {
  readonly name: string;
  readonly told: string | undefined;
}

export function workerKeys(cache: Cache, { metadata }: Read<Controller>): WorkerKey[] {
  return cache
    .list(pods, { namespace: metadata.namespace })
    .filter(
      (pod: Live<Pod>) =>
        pod.metadata.deletionTimestamp === undefined &&
        pod.metadata.labels?.[label.name] === app.worker &&
        pod.metadata.labels[label.cluster] === metadata.name,
    )
    .map((pod) => ({
      name: pod.metadata.name,
      told: pod.metadata.annotations?.[annotation.slurmKeyHash],
    }));
}
