/** The watch while only the end of jobs is waited for: nodes are read where jobs ended, and lists are rare. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../testing/contract/wire.ts';
import { startSimulator } from '../../testing/simulator/simulator.ts';
import { noLatency } from '../../testing/simulator/simulator-latency.ts';
import { SlurmWatch } from './slurm-watch.ts';

describe('while only the end of jobs is waited for', () => {
  /** A list takes half a second, so that the next one is ten seconds later. */
  const slowLists = { ...noLatency, perListedNode: 5 };

  test('the nodes of a job that ended are read at once, without a list of all', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-99]', latency: slowLists });
    const { cluster } = simulator;
    const ids = ['n7', 'n8'].map((node) => cluster.runJob([node], { timeLimit: 60 }));
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    using _fast = watch.pollFast('jobs');
    watch.start();
    const { at } = await watch.nodes.listSince(0);
    await watch.jobs.listSince(0);
    assert.deepEqual([baseOf(watch, 'n7'), baseOf(watch, 'n8')], ['MIXED', 'MIXED']);
    const heard: string[] = [];
    watch.nodes.subscribe(({ changes }) => heard.push(...changes.map(({ node }) => node.name)));
    cluster.finishJob(ids[0] ?? 0);
    await eventually(() => assert.equal(baseOf(watch, 'n7'), 'IDLE'));
    assert.deepEqual(heard, ['n7']);
    const { view } = watch.nodes;
    assert.ok(view.kind === 'known');
    assert.equal(view.at, at, 'the view as a whole did not become younger');
    assert.equal(
      simulator.requests.filter(({ path, query }) => path === 'slurm/nodes/' && query === '').length,
      1,
    );
  });

  test('a job whose nodes were never read brings a list when it ends', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-99]', latency: slowLists });
    const { cluster } = simulator;
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    using _fast = watch.pollFast('jobs');
    watch.start();
    await watch.nodes.listSince(0);
    await watch.jobs.listSince(0);
    const id = cluster.runJob(['n7'], { timeLimit: 60 });
    simulator.hiddenJobs.add(id);
    await eventually(() => {
      const { view } = watch.jobs;
      assert.ok(view.kind === 'known' && view.missing.has(String(id)), 'its details cannot be read');
    });
    cluster.finishJob(id);
    const ended = Date.now();
    // Before the time of the next list.
    await eventually(() => {
      const { view } = watch.nodes;
      assert.ok(view.kind === 'known' && view.at >= ended);
    }, 6_000);
  });

  test('an error while nodes are read again is no outage: the next list decides', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-29]' });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.start();
    await watch.nodes.listSince(0);
    simulator.faults.controllerDown = true;
    watch.nodes.readAgain(['n1', 'nowhere']);
    await eventually(() => assert.ok(simulator.requests.some(({ status }) => status >= 500)));
    simulator.faults.controllerDown = false;
    await watch.nodes.listSince(Date.now());
    watch.nodes.readAgain(['n1']);
    assert.equal(watch.nodes.view.kind, 'known');
  });
});

const stateOf = ({ nodes: { view } }: SlurmWatch, name: string) =>
  view.kind === 'known' ? view.nodes.get(name)?.state : undefined;
const baseOf = (watch: SlurmWatch, name: string) => stateOf(watch, name)?.base;

test('nodes that a job waits for are shown as soon as Slurm powers them up, without a list of all', async () => {
  // A list takes half a second, so that the next one is more than a second later; the power-up begins after the job was seen.
  const latency = { ...noLatency, perListedNode: 5 };
  await using simulator = await startSimulator({ nodes: 'n[0-99]', latency });
  const { cluster } = simulator;
  const asleep = cluster.node('n7');
  asleep.flags.add('POWERED_DOWN');
  await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
  using _fast = watch.pollFast('jobs');
  watch.start();
  const { at } = await watch.nodes.listSince(0);
  await watch.jobs.listSince(0);
  cluster.runJob(['n7', 'n8'], { configuring: true });
  await eventually(() =>
    assert.ok(
      simulator.requests.some(({ path }) => path === 'slurm/node/n7'),
      'it is read',
    ),
  );
  asleep.flags.delete('POWERED_DOWN');
  asleep.flags.add('POWERING_UP');
  cluster.touch(asleep);
  await eventually(() => assert.ok(stateOf(watch, 'n7')?.flags.has('POWERING_UP')));
  const { view } = watch.nodes;
  assert.ok(view.kind === 'known' && view.at === at, 'there was no list meanwhile');
  const paths = simulator.requests.map(({ path }) => path);
  assert.ok(!paths.includes('slurm/node/n8'), 'a node that is awake is not read');
});
