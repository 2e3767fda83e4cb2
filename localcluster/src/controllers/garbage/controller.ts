/** The garbage collector: follows every kind the server serves, and deletes what lost its owners. */
import type { Manager } from '@slurm-operator/kube';
import { Collector } from './collector.ts';
import { OwnerFollower } from './owner-follower.ts';

export function addGarbageCollector(manager: Manager): void {
  const follower = new OwnerFollower(manager);
  const collector = new Collector(manager, follower);
  manager.add(follower);
  manager
    .controller('garbage-collector')
    .source(follower.work)
    .options({ workers: 8 })
    .reconcile(({ name: uid }, { signal }) => collector.collect(uid, signal));
}
