/**
 * The keys by which the daemons of a cluster know each other, as far as controllers may know them: by their digests. Every pod that
 * holds them carries a digest in the annotation `slinky.slurm.net/slurm-key-hash`; slurmctld, slurmdbd and login nodes from their
 * template, which restarts them when it changes, and workers from the Controller, which tells them of new keys. A worker needs no
 * restart: the kubelet updates the file in its pod, slurmd reads it again on SIGHUP, and its jobs continue (docs/key-rotation.md).
 */
import { type Accounting, annotation, app, type Controller, label, resourceName } from '@slurm-operator/api';
import { type Cache, type Live, type Pod, pods, secrets } from '@slurm-operator/kube';
import { controllers } from '../cache/resources.ts';
import { lostNode } from '../framework/status/pods.ts';
import type { Read } from '../objects/read.ts';
import { daemonHash, type KeySet, loginHash, parseKeySet } from './key-set.ts';

/** The keys in force, which the Controller writes; undefined before that, and for a slurmctld that runs elsewhere. */
export function keySetOf(cache: Cache, { metadata, spec }: Read<Controller>): KeySet | undefined {
  if (spec.external) return undefined;
  const { namespace, name } = metadata;
  const secret = cache.get(secrets, { namespace, name: resourceName.slurmKeys(name) });
  return parseKeySet(secret?.metadata.annotations?.[annotation.slurmKeys]);
}

/** The digest of the user's key; empty while there is none. */
export function userKeyDigest(cache: Cache, { metadata, spec }: Read<Controller>): string {
  const { name = '', key = '' } = spec.slurmKeyRef ?? {};
  return cache.get(secrets, { namespace: metadata.namespace, name })?.data?.[key] ?? '';
}

/** What every worker of this Controller should have read by now; empty while there is no key. */
export function workerKeyDigest(cache: Cache, controller: Read<Controller>): string {
  const keys = keySetOf(cache, controller);
  return keys === undefined ? userKeyDigest(cache, controller) : daemonHash(keys);
}

/** What every login node of this Controller should have been started with; empty while there is no key. */
export function loginKeyDigest(cache: Cache, controller: Read<Controller>): string {
  const keys = keySetOf(cache, controller);
  return keys === undefined ? userKeyDigest(cache, controller) : loginHash(keys);
}

/** A Controller that uses this Accounting with the same key: slurmdbd follows its keys. */
export function keysOfAccounting(
  cache: Cache,
  { metadata, spec }: Read<Accounting>,
): { readonly controller: string; readonly digest: string } | undefined {
  return cache
    .list(controllers, { namespace: metadata.namespace })
    .filter((one) => sharesKey(one, { metadata, spec }))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((one) => {
      // The first set has the digest of its only key.
      const digest = workerKeyDigest(cache, one);
      return one.spec.external || digest === '' ? [] : [{ controller: one.metadata.name, digest }];
    })
    .at(0);
}

const sharesKey = (
  { spec }: Read<Controller>,
  accounting: Read<Pick<Accounting, 'metadata' | 'spec'>>,
): boolean =>
  spec.accountingRef?.name === accounting.metadata.name &&
  !accounting.spec.external &&
  spec.slurmKeyRef?.name === accounting.spec.slurmKeyRef?.name &&
  spec.slurmKeyRef?.key === accounting.spec.slurmKeyRef?.key;

/** A worker, and the keys that it was notified of; undefined for one that was not notified since it started. */
export interface WorkerKey {
  readonly name: string;
  readonly uid: string;
  readonly told: string | undefined;
  readonly lostWith?: string | undefined;
  readonly scheduled?: boolean;
  readonly running?: boolean;
  /** It was created without the file that holds several keys. */
  readonly hasOneKey?: boolean;
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
      uid: pod.metadata.uid,
      told: pod.metadata.annotations?.[annotation.slurmKeyHash],
      lostWith: lostNode(cache, pod.spec?.nodeName),
      scheduled: pod.spec?.nodeName !== undefined,
      running:
        pod.status?.containerStatuses?.find(({ name }) => name === app.worker)?.state?.running !== undefined,
      hasOneKey: pod.metadata.annotations?.[annotation.slurmKeysFile] === undefined,
    }));
}
