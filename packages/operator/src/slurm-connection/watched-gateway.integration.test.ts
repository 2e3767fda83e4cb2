/** The gateway on the simulator: a view that Slurm's answers contradict does not stay. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlurmWatch } from '@slurm-operator/slurm';
import { startSimulator } from '@slurm-operator/slurm/testing';
import { WatchedGateway } from './watched-gateway.ts';

/** More than are always listed in full. */
const many = 25;

for (const [how, write] of [
  [
    'an update',
    (gateway: WatchedGateway, signal: AbortSignal) => gateway.updateNode('n3', { comment: 'x' }, signal),
  ],
  ['a deletion', (gateway: WatchedGateway, signal: AbortSignal) => gateway.deleteNode('n3', signal)],
] as const)
  test(`all nodes were deleted at once, unseen: ${how} that finds its node gone makes the view read again`, async (t) => {
    await using simulator = await startSimulator({ nodes: `n[0-${many - 1}]` });
    const client = simulator.client();
    await using watch = new SlurmWatch({ client, pace: { fastMs: 20 } });
    const gateway = new WatchedGateway({
      client,
      watch,
      controllerStartedAt: () => undefined,
      now: Date.now,
    });
    watch.start();
    using _fast = watch.pollFast();
    const sizeOf = async () => {
      await watch.nodes.listSince(Date.now());
      const view = gateway.view();
      return view.kind === 'known' ? view.nodes.length : view.why;
    };
    const sizeInFull = async () => {
      const view = await gateway.freshView(t.signal);
      return view.kind === 'known' ? view.nodes.length : view.why;
    };
    assert.equal(await sizeInFull(), many);
    // Slurm counts changes in seconds: until it answers "unchanged" each list is one in full.
    while (!simulator.requests.some(({ status }) => status === 304)) await sizeOf();

    simulator.cluster.nodes.clear(); // as `scontrol delete` of all of them does it
    assert.equal(await sizeOf(), many, 'Slurm does not tell');
    await write(gateway, t.signal);
    assert.equal(await sizeOf(), 0);
  });
