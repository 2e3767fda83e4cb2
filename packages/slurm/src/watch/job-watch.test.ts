/** Jobs whose nodes change while their state does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../testing/manual-clock.ts';
import type { SlurmClient } from '../client.ts';
import type { SlurmJob } from '../model/job.ts';
import { JobWatch } from './job-watch.ts';

/** Lets what was promised happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('the nodes of a job that is suspended are read then: it may have got more while it ran', async (t) => {
  const clock = new ManualClock(1_000);
  let job = { id: 5, nodes: 'n0', state: ['RUNNING'] } as unknown as SlurmJob;
  let isRead = true;
  const client = {
    circuit: () => ({ waitMs: 0 }),
    jobs: {
      states: async () => ({ beganAt: clock.now(), bytes: 1, items: [{ id: '5', state: job.state }] }),
      list: async () => ({ bytes: 1, items: [job] }),
      get: async () => (isRead ? job : undefined),
    },
  } as unknown as SlurmClient;
  const watch = new JobWatch({ client, clock });
  t.after(() => watch.stop());
  const listed = async () => {
    clock.advance(60_000);
    for (let turn = 0; turn < 5; turn += 1) await settled();
    const { view } = watch;
    assert.ok(view.kind === 'known' && view.at === clock.now());
    return view;
  };
  watch.start();
  await settled();
  // scontrol update job=5 numnodes=all: the nodes of a job that asked to expand it are its own now.
  job = { ...job, nodes: 'n[0-1]' };
  await listed();
  job = { ...job, state: ['SUSPENDED'] };
  isRead = false;
  assert.ok((await listed()).missing.has('5'), 'until they are read its nodes are unknown');
  isRead = true;
  const { missing, running } = await listed();
  assert.equal(running.get('5')?.nodes, 'n[0-1]');
  assert.equal(missing.size, 0);
});
