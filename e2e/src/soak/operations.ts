/** All operations on a running cluster, by family, and a random choice of them. */

import { KubeError } from '@slurm-operator/kube';
import { SlurmError } from '@slurm-operator/slurm';
import { Random } from '@slurm-operator/slurm/testing';
import { ofConfiguration } from './operations/cluster-configuration.ts';
import { ofJobs } from './operations/jobs.ts';
import { ofMachines } from './operations/machines.ts';
import { ofNodeSets } from './operations/node-sets.ts';
import type { Operation, Soaking } from './operations/operation.ts';
import { ofOtherObjects } from './operations/other-objects.ts';
import { ofPrograms } from './operations/programs.ts';
import { ofRestarts } from './operations/restarts.ts';

const all: readonly Operation[] = [
  ...ofNodeSets,
  ...ofConfiguration,
  ...ofRestarts,
  ...ofOtherObjects,
  ...ofJobs,
  ...ofMachines,
  ...ofPrograms,
];
const drawn = all.flatMap((one) => Array.from({ length: one.weight ?? 1 }, () => one));

export const operationKinds: readonly string[] = all.map(({ kind }) => kind);

export interface Drawn {
  readonly operation: Operation;
  readonly random: Random;
}

/** What is done first: one of every kind in an order of the seed's own, or these kinds in this order. */
export type FirstOperations = 'each kind' | readonly string[];

/** The n-th operation of a seed, whatever happened before it: a prefix of a run can be had again. `aim`: of these kinds every other one. */
export function draw(
  seed: number,
  n: number,
  first: FirstOperations = [],
  aim: readonly string[] = [],
): Drawn {
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(n, 0x85ebca6b));
  for (let i = 0; i < 4; i += 1) random.next();
  const beginning = first === 'each kind' ? shuffled(seed) : first.map(named);
  const aimed = n % 2 === 1 ? random.pick(aim.map(named)) : undefined;
  const chosen = beginning[n - 1] ?? aimed ?? random.pick(drawn);
  if (chosen === undefined) throw new Error('there are no operations');
  return { operation: chosen, random };
}

function named(kind: string): Operation {
  const found = all.find((operation) => operation.kind === kind);
  if (found === undefined) throw new Error(`there is no operation "${kind}"`);
  return found;
}

/** Every kind once, in an order of the seed's own. */
function shuffled(seed: number): Operation[] {
  const random = new Random(seed + 7);
  return all
    .map((operation) => ({ operation, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ operation }) => operation);
}

/** What cannot be done because a daemon is away is not done. Others may run at the same time, with other parts. */
export async function operate({ operation }: Drawn, soak: Soaking): Promise<string> {
  try {
    return await soak.turns.take(operation.needs ?? [], () => operation.run(soak));
  } catch (error) {
    if (!(error instanceof KubeError) && !(error instanceof SlurmError)) throw error;
    return `${operation.kind}: not now, ${error.message}`;
  }
}
