/** Random rows for the contract of QOS: any part of it may be set or not. */
import {
  emptyQos,
  type QosPreemptMode,
  type QosShare,
  qosFlags,
  type SlurmQos,
  type TresCounts,
} from '../src/model/qos.ts';
import type { Limit } from '../src/wire/values.ts';

export type Random = () => number;

/** Numbers in [0, 1) that depend on the seed only (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomQos(name: string, random: Random, others: readonly string[]): SlurmQos {
  const whole = (most: number) => Math.floor(random() * most);
  const limit = (): Limit => (random() < 0.5 ? 'infinite' : whole(100));
  const tres = (): TresCounts =>
    Object.fromEntries(['cpu', 'mem', 'node'].filter(() => random() < 0.3).map((type) => [type, whole(100)]));
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
    description: random() < 0.3 ? '' : `edit ${whole(1000)}`,
    flags: qosFlags.filter((flag) => flag !== 'RELATIVE' && flag !== 'PARTITION_QOS' && random() < 0.2),
    priority: whole(1000),
    graceSeconds: whole(100),
    preempts: others.filter(() => random() < 0.4),
    preemptMode: [modes[whole(modes.length)] ?? 'cluster'],
    preemptExemptSeconds: limit(),
    usageFactor: whole(10),
    usageThreshold: limit(),
    limitFactor: random() < 0.5 ? 'infinite' : 1 + whole(10),
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
