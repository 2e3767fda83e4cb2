import fc from 'fast-check';
import { isOurDrain } from '../src/kinds/nodeset/model/node-state.ts';
import { planWorkers } from '../src/kinds/nodeset/plan/plan-workers.ts';
import { event, happen, newWorld, settle, start } from './nodeset-history.ts';

/** What the plan must never do; a test of the laws fails on the first. */
export class LawBroken extends Error {}

/** Runs random histories and returns how many were checked; throws on the first broken law, shrunk to its core. */
export function checkLaws(runs: number, seed: number): number {
  let checked = 0;
  fc.assert(
    fc.property(start, fc.array(event, { minLength: 10, maxLength: 80, size: 'max' }), (from, events) => {
      const world = newWorld(from);
      // Most histories begin with a running cluster: what matters happens to workers that have jobs.
      if (from.warm) settle(world);
      for (const each of events) happen(world, each);
      world.spec.update = { ...world.spec.update, paused: false, partition: 0 };
      settle(world);
      checkRest(world);
      if (from.deleted) checkDeletion(world, from.machineOff ? 'machine-0' : undefined);
      checked += 1;
    }),
    { numRuns: runs, seed, endOnFailure: false },
  );
  return checked;
}

/** L8, L9: at rest the world is what the spec says, whatever happened before, and an unchanged NodeSet asks for nothing. */
function checkRest(world: ReturnType<typeof newWorld>): void {
  const { spec } = world;
  const desired = spec.scalingMode === 'StatefulSet' ? spec.replicas : world.kubeNodes.size;
  const expect = (holds: boolean, what: string) => {
    if (!holds) throw new LawBroken(`L8: at rest ${what}`);
  };
  const pods = [...world.pods.values()];
  expect(pods.length === desired, `there are ${pods.length} workers instead of ${desired}`);
  expect(
    pods.every((pod) => pod.slot.mode === spec.scalingMode),
    'a worker of the other mode remains',
  );
  expect(
    pods.every((pod) => pod.revision === spec.updateRevision),
    'a worker has an old revision',
  );
  expect(
    pods.every((pod) => pod.ready && !pod.cordoned),
    'a worker is not ready, or cordoned',
  );
  const names = new Set(pods.map((pod) => pod.slurmName));
  expect(
    [...world.slurm.nodes.keys()].every((name) => names.has(name)),
    'Slurm keeps a record of a worker that is gone',
  );
  expect(
    pods.every((pod) => world.slurm.nodes.has(pod.slurmName)),
    'Slurm does not know a worker',
  );
  expect(
    [...world.slurm.nodes.values()].every((node) => !isOurDrain(node)),
    'a node is still drained by us',
  );
  world.refreshView();
  if (planWorkers(world.observe(), world.now).actions.length > 0)
    throw new LawBroken('L9: an unchanged NodeSet asks for something');
}

/** L6, L16: deletion drains first, waits for nothing that cannot answer, and leaves nothing behind in Slurm. */
function checkDeletion(world: ReturnType<typeof newWorld>, off: string | undefined): void {
  world.slurmWorks(3);
  world.spec.deleting = true;
  settle(world, { off });
  if (!world.finalized) throw new LawBroken('L6: the finalizer stays');
  // L16: a pod that terminates on a machine that is off stays there; nothing waits for it.
  const pods = [...world.pods.values()].filter((pod) => pod.nodeName !== off);
  if (pods.length > 0 || world.slurm.nodes.size > 0)
    throw new LawBroken(`L6: ${pods.length} pods and ${world.slurm.nodes.size} Slurm records are left`);
}
