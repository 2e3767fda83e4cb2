import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refused, type SlurmClient } from '@slurm-operator/slurm';
import { Random } from '@slurm-operator/slurm/testing';
import { Workload } from './workload.ts';

/** Slurm with jobs in given states; it refuses to release one that has ended, as slurmctld does. */
class FakeSlurm {
  readonly states = new Map<number, string>();
  readonly resumed: number[] = [];
  #last = 0;

  get client(): SlurmClient {
    const { states } = this;
    const job = (id: number) => ({
      id,
      state: [states.get(id)],
      partition: 'all',
      nodes: '',
      restarts: 0,
      held: false,
      stateDescription: '',
      stateReason: '',
    });
    return {
      jobs: {
        submit: () => {
          this.#last += 1;
          states.set(this.#last, 'PENDING');
          return Promise.resolve({ id: this.#last });
        },
        states: () =>
          Promise.resolve({ items: [...states].map(([id, state]) => ({ id: String(id), state: [state] })) }),
        get: (id: string) => Promise.resolve(states.has(Number(id)) ? job(Number(id)) : undefined),
        release: (id: number) =>
          states.get(id) === 'CANCELLED'
            ? Promise.reject(new Refused('Job/step already completing or completed', {}))
            : Promise.resolve({}),
      },
    } as unknown as SlurmClient;
  }
}

test('a held job that was cancelled does not keep a suspended one from being resumed', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 });
  const slurm = new FakeSlurm();
  const load = new Workload({
    slurm: () => Promise.resolve(slurm.client),
    random: new Random(1),
    shortest: 1,
    longest: 2,
    submitPair: () => Promise.resolve(undefined),
    resume: (id) => Promise.resolve(slurm.resumed.push(id)),
  });
  await load.submitOne('held');
  await load.submitOne('batch');
  slurm.states.set(1, 'CANCELLED');
  slurm.states.set(2, 'SUSPENDED');
  await load.look();
  t.mock.timers.setTime(1_060_000);
  await load.look();
  assert.deepEqual(slurm.resumed, [2]);
});
