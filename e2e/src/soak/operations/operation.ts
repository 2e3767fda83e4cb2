/** What an operation of the soak is, and what it may use. Each family of operations is a file beside this one. */

import { exec, type KubeObject, type Resource, sleep } from '@slurm-operator/kube';
import type { SlurmClient } from '@slurm-operator/slurm';
import type { Random } from '@slurm-operator/slurm/testing';
import { namespace, type SlurmStage } from '../../slurm-stage.ts';
import type { Administrator } from '../administrator.ts';
import type { Neighbours } from '../neighbours.ts';
import type { PeoplesOrders } from '../peoples-orders.ts';
import type { Workload } from '../workload.ts';
import type { Part, Turns } from './turns.ts';

export interface Soaking {
  readonly stage: SlurmStage;
  readonly turns: Turns;
  /** Of this operation alone: what it draws does not depend on the operations before it. */
  readonly random: Random;
  readonly administrator: Administrator;
  readonly load: Workload;
  readonly neighbours: Neighbours;
  readonly orders: PeoplesOrders;
  /** When slurmctld was killed without a chance to save its state, and when it was ended in an orderly way. */
  readonly outages: { readonly kills: number[]; readonly restarts: number[] };
}

/** Answers what it did, in words. */
export type Run = (soak: Soaking) => Promise<string>;

export interface Operation {
  readonly kind: string;
  /** How often it is drawn, compared with others. @default 1 */
  readonly weight?: number;
  /** What no other operation uses meanwhile. A NodeSet is asked for when it is known which one: `turns.within`. @default nothing */
  readonly needs?: readonly Part[];
  readonly run: Run;
}

export const pause = (milliseconds: number): Promise<void> =>
  sleep(milliseconds, AbortSignal.timeout(milliseconds + 30_000));

export const patch = <T extends KubeObject>(
  { stage }: Soaking,
  resource: Resource<T>,
  name: string,
  spec: object,
): Promise<unknown> => stage.client.mergePatch(resource, { namespace, name }, { spec });

/** A command of Slurm beside slurmctld, as a person would type it; undefined when it could not be run. */
export async function slurmCommand(stage: SlurmStage, ...command: string[]): Promise<string | undefined> {
  try {
    const { exitCode, stdout } = await exec(stage.client, { namespace, name: 'main-controller-0' }, command, {
      container: 'slurmctld',
      timeout: 20_000,
    });
    return exitCode === 0 ? stdout : undefined;
  } catch {
    return undefined;
  }
}

export const slurmOf = (soak: Soaking): Promise<SlurmClient> => soak.stage.slurm();
