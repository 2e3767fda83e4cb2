/** Nodes that are read one by one, beside lists of all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../testing/manual-clock.ts';
import type { SlurmClient } from '../client.ts';
import type { SlurmNode } from '../model/node.ts';
import { NodeWatch } from './node-watch.ts';

const node = (...flags: string[]) =>
  ({ name: 'n1', state: { base: 'IDLE', flags: new Set(flags) }, reason: '' }) as unknown as SlurmNode;

/** Lets what was promised happen. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a node that was read before a list began does not replace what that list shows', async (t) => {
  const clock = new ManualClock(1_000);
  let listed = node();
  const read = Promise.withResolvers<void>();
  const client = {
    circuit: () => ({ waitMs: 0 }),
    nodes: {
      list: () => Promise.resolve({ beganAt: clock.now(), items: [listed], bytes: 1, updateTime: 1 }),
      current: async () => {
        const beganAt = clock.now();
        const nodes = [node()];
        await read.promise;
        return { beganAt, nodes };
      },
    },
  } as unknown as SlurmClient;
  const watch = new NodeWatch({ client, clock });
  t.after(() => watch.stop());
  watch.start();
  await settled();
  watch.readAgain(['n1']);
  // The drain is accepted after the node was read, and before the list begins.
  const accepted = clock.now();
  listed = node('DRAIN');
  clock.advance(60_000);
  await settled();
  read.resolve();
  await settled();
  const { view } = watch;
  assert.ok(view.kind === 'known' && view.at > accepted);
  assert.ok(view.nodes.get('n1')?.state.flags.has('DRAIN'), 'a list since the drain shows it');
});
