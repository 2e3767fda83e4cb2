/** Compares the simulation of a plan with what the simulated world does when the operator really acts on it. */
import fc from 'fast-check';
import { type Simulation, type Step, simulate } from '../src/kinds/nodeset/simulate/simulate.ts';
import type { SimulatedJob } from '../src/kinds/nodeset/simulate/virtual-world.ts';
import { LawBroken } from './check-laws.ts';
import { newWorld, operate, settle } from './nodeset-history.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** The world moves in such steps: a pod ends after one, and is ready two after its creation. */
const tick = 60_000;
const durations = { start: 2 * tick, termination: tick };
const ticks = 60;

const change = fc.record({
  replicas: fc.nat({ max: 7 }),
  toReplicas: fc.nat({ max: 7 }),
  newRevision: fc.boolean(),
  maxUnavailable: fc.integer({ min: 1, max: 3 }),
  partition: fc.nat({ max: 2 }),
  daemon: fc.boolean(),
  machines: fc.integer({ min: 1, max: 6 }),
  scaledDelete: fc.boolean(),
  /** For each node: ticks until its job ends; 0 for none, 13 for one that never ends. */
  jobs: fc.array(fc.nat({ max: 13 }), { minLength: 8, maxLength: 8 }),
  deleted: fc.boolean(),
});

/** Runs random changes both ways and returns how many were compared; throws at the first difference. */
export function compareSimulations(runs: number, seed: number): number {
  let compared = 0;
  fc.assert(
    fc.property(change, (from) => {
      const world = newWorld(from);
      settle(world);
      world.now = Math.ceil(world.now / tick) * tick;
      giveJobs(world, from.jobs);
      Object.assign(world.spec, { replicas: from.toReplicas, deleting: from.deleted });
      world.spec.update = { ...world.spec.update, partition: from.partition };
      if (from.newRevision) world.spec.updateRevision = 'r1';
      const began = world.now;
      world.refreshView();
      const jobs = world.slurm.jobs.map(
        ({ id, node, ends }): SimulatedJob => ({ id, nodes: [node], endsAt: ends, deadline: ends }),
      );
      const foreseen = simulate({ ...world.observe() }, jobs, durations, began);
      const real = play(world, began);
      compare(foreseen, real, began);
      compared += 1;
    }),
    { numRuns: runs, seed },
  );
  return compared;
}

function giveJobs(world: SimulatedWorld, ends: readonly number[]): void {
  let id = 0;
  for (const name of world.slurm.nodes.keys()) {
    const end = ends[id % ends.length] ?? 0;
    id += 1;
    if (end > 0)
      world.slurm.jobs.push({
        id,
        node: name,
        ends: end === 13 ? Number.POSITIVE_INFINITY : world.now + end * tick,
      });
  }
}

/** What the operator does to pods in the world, by tick. */
function play(world: SimulatedWorld, began: number): readonly string[] {
  const done: string[] = [];
  for (let index = 0; index <= ticks; index += 1) {
    const at = began + index * tick;
    world.now = at;
    if (index > 0) world.kubeWorks();
    world.slurmWorks(0);
    for (let round = 0; round < 20; round += 1) {
      world.refreshView();
      const from = world.done.length;
      operate(world);
      const acted = world.done.slice(from);
      for (const action of acted) {
        if (action.kind === 'delete-worker') done.push(`${index} delete ${action.slurmName} (${action.why})`);
        if (action.kind === 'create-worker')
          done.push(
            `${index} create ${action.slot.mode === 'StatefulSet' ? action.slot.ordinal : action.slot.nodeName}`,
          );
        if (action.kind === 'drain' || action.kind === 'undrain')
          done.push(`${index} ${action.kind} ${action.slurmName}`);
      }
      if (acted.length === 0) break;
    }
    if (world.finalized) break;
  }
  return done;
}

function compare(foreseen: Simulation, real: readonly string[], began: number): void {
  const said = foreseen.steps.flatMap((step) => textOf(step, began));
  const inOrder = (lines: readonly string[]) => lines.toSorted(byTick);
  if (JSON.stringify(inOrder(said)) !== JSON.stringify(inOrder(real)))
    throw new LawBroken(
      `the simulation differs from the world:\n${inOrder(said).join('\n')}\n--- world\n${inOrder(real).join('\n')}`,
    );
}

/** Within a tick things happen at once. */
const byTick = (a: string, b: string): number =>
  Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : a > b ? 1 : 0);

function textOf({ at, kind, name, why }: Step, began: number): string[] {
  const index = Math.floor((at - began) / tick);
  if (kind === 'delete')
    return [`${index} delete ${name.replace(/^workers-(machine-\d+)-\d+$/, '$1')} (${why})`];
  if (kind === 'create') return [`${index} create ${name.replace(/^workers-/, '')}`];
  return kind === 'drain' || kind === 'undrain' ? [`${index} ${kind} ${name}`] : [];
}
