/** Random rows for the contract of QOS: any part of it may be set or not. */

import type { AssociationRow } from '../src/model/association.ts';
import {
  emptyQos,
  type QosPreemptMode,
  type QosShare,
  qosFlags,
  type SlurmQos,
  type TresCounts,
} from '../src/model/qos.ts';
import type { Limit } from '../src/wire/values.ts';

/** Random numbers that depend on the seed only: the same seed gives the same history. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    // xorshift32: short, and good enough to pick operations with.
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.below(from.length)];
  }
}

export function randomQos(name: string, random: Random, others: readonly string[]): SlurmQos {
  const whole = (most: number) => random.below(most);
  const chance = (share: number) => random.next() < share;
  const limit = (): Limit => (chance(0.5) ? 'infinite' : whole(100));
  const tres = (): TresCounts =>
    Object.fromEntries(['cpu', 'mem', 'node'].filter(() => chance(0.3)).map((type) => [type, whole(100)]));
  const share = (): QosShare => ({
    jobs: limit(),
    submit: limit(),
    accruing: limit(),
    tres: tres(),
    tresRunMinutes: tres(),
  });
  const modes: readonly QosPreemptMode[] = ['cluster', 'requeue', 'cancel'];
  return {
    ...emptyQos(name),
    description: chance(0.3) ? '' : `edit ${whole(1000)}`,
    flags: qosFlags.filter((flag) => flag !== 'RELATIVE' && flag !== 'PARTITION_QOS' && chance(0.2)),
    priority: whole(1000),
    graceSeconds: whole(100),
    preempts: others.filter(() => chance(0.4)),
    preemptMode: [modes[whole(modes.length)] ?? 'cluster'],
    preemptExemptSeconds: limit(),
    usageFactor: whole(10),
    usageThreshold: limit(),
    limitFactor: chance(0.5) ? 'infinite' : 1 + whole(10),
    limits: {
      group: { ...share(), tresMinutes: tres(), wallMinutes: limit() },
      perUser: share(),
      perAccount: share(),
      perJob: {
        tres: tres(),
        tresPerNode: tres(),
        tresMinutes: tres(),
        minTres: tres(),
        wallMinutes: limit(),
      },
      minPriority: limit(),
    },
  };
}

/** The same row with other values: any limit may be set or not. */
export function randomAssociation(row: AssociationRow, random: Random): AssociationRow {
  const whole = (most: number) => random.below(most);
  const limit = (): Limit => (random.next() < 0.5 ? 'infinite' : whole(100));
  const tres = (): TresCounts =>
    Object.fromEntries(
      ['cpu', 'mem', 'node'].filter(() => random.next() < 0.3).map((type) => [type, whole(100)]),
    );
  return {
    ...row,
    fairshare: random.next() < 0.2 ? 'parent' : 1 + whole(100),
    priority: limit(),
    qos: ['normal'],
    limits: {
      group: {
        jobs: limit(),
        submit: limit(),
        accruing: limit(),
        wallMinutes: limit(),
        tres: tres(),
        tresMinutes: tres(),
        tresRunMinutes: tres(),
      },
      perMember: { jobs: limit(), submit: limit(), accruing: limit(), tresRunMinutes: tres() },
      perJob: { wallMinutes: limit(), tres: tres(), tresPerNode: tres(), tresMinutes: tres() },
      minPriority: limit(),
    },
  };
}
