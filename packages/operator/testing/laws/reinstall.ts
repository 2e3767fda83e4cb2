/** A cluster that is uninstalled and installed again, as people and GitOps tools do it: its state stays, and its objects come back in any order. */
import { type ClusterWorld, namespace } from './cluster-world.ts';
import type { StoredObject } from './memory-kube.ts';
import type { Json } from './merge.ts';

/** `n` decides the order of the objects, what happens between two of them, and whether one does not come back. */
export async function reinstall(world: ClusterWorld, n: number): Promise<void> {
  const { controller } = world;
  if (controller === undefined || world.slurm.conf.text === '') return;
  const sets = world.nodeSets();
  // People let end what runs, and what waits in a partition that only slurmctld knows.
  for (const job of world.slurm.open())
    if (job.state !== 'PENDING' || job.partitions.some((name) => world.slurm.created.has(name)))
      world.slurm.cancel(job);
  for (const { metadata } of sets) world.uninstalled.add(metadata.uid);
  const isControllerFirst = n % 2 === 0;
  if (isControllerFirst) await uninstallController(world, controller);
  for (const set of sets) {
    world.deleteNodeSet(set);
    if (n > 4) await world.operate({ controller: true });
  }
  for (let round = 0; round < 3; round += 1) {
    world.kubeWorks();
    await world.operate({ controller: true });
    for (const { metadata } of world.nodeSets()) await world.operate({ nodeSet: metadata.name });
  }
  if (!isControllerFirst) await uninstallController(world, controller);
  for (let round = 0; round < 40 && world.nodeSets().length > 0; round += 1) {
    world.now += 30_000;
    world.kubeWorks();
    for (const { metadata } of world.nodeSets()) await world.operate({ nodeSet: metadata.name });
  }
  if (world.nodeSets().length > 0) return world.breaks('L16: NodeSets outlive their Controller');
  if (n === 3) world.restartOperator();

  const objects = [
    { plural: 'controllers', object: controller },
    ...sets
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((object) => ({ plural: 'nodesets', object })),
  ];
  const first = n % objects.length;
  for (const [at, { plural, object }] of [...objects.slice(first), ...objects.slice(0, first)].entries()) {
    if (n === 7 && plural === 'nodesets' && at === objects.length - 1) continue;
    world.kube.create(plural, asWritten(object));
    if (n % 3 === 0) continue;
    world.now += n === 5 ? 300_000 : 2_000;
    await world.operate({ controller: true });
    world.kubeWorks();
  }
}

async function uninstallController(world: ClusterWorld, controller: StoredObject): Promise<void> {
  world.kube.delete('controllers', controller, 'person');
  world.slurm.created.clear();
  world.kubeWorks();
  await world.operate({ controller: true });
}

const asWritten = ({ apiVersion, kind, metadata, spec }: StoredObject): Json => ({
  apiVersion,
  kind,
  metadata: { name: metadata.name, namespace },
  spec,
});
