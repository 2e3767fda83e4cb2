/** The watch on the simulator: what it costs, what it says, what it survives. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../testing/contract/wire.ts';
import { ManualClock } from '../../testing/manual-clock.ts';
import { type Simulator, startSimulator } from '../../testing/simulator/simulator.ts';
import { noLatency } from '../../testing/simulator/simulator-latency.ts';
import { formatNodeState } from '../meaning/node-state.ts';
import { deadlinesOf, type KnownJobs } from './job-watch.ts';
import type { NodeChange } from './node-changes.ts';
import { SlurmWatch } from './slurm-watch.ts';

/** Slurm counts changes in seconds: for two of them nothing is "unchanged". They pass on the simulator's own clock. */
const secondsLater = 3000;
/** Responses take no time: the clock of the simulator is stopped. */
const latency = { ...noLatency, controllerDown: 0, controllerDownJob: 0 };

describe('nodes', () => {
  test('notifies of changes: added, changed with their facets, removed', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-2]' });
    const client = simulator.client();
    await using watch = new SlurmWatch({ client, pace: { fastMs: 20 } });
    const changes: NodeChange[] = [];
    watch.nodes.subscribe((news) => changes.push(...news.changes));
    watch.start();
    using _fast = watch.pollFast();
    await watch.nodes.listSince(0);
    assert.deepEqual(
      changes.splice(0).map((change) => `${change.type} ${change.node.name}`),
      ['added n0', 'added n1', 'added n2'],
    );

    const drained = await client.nodes.drain('n1', 'test: x');
    await watch.nodes.listSince(drained.at);
    const [change] = changes.splice(0);
    assert.ok(change?.type === 'changed');
    assert.deepEqual([...change.facets].toSorted(), ['reason', 'state']);
    assert.equal(formatNodeState(change.before.state), 'IDLE+DYNAMIC_NORM');
    assert.equal(formatNodeState(change.node.state), 'IDLE+DYNAMIC_NORM+DRAIN');

    simulator.cluster.removeNode('n2');
    simulator.cluster.addNode('n9');
    await watch.nodes.listSince(Date.now());
    assert.deepEqual(changes.map((other) => `${other.type} ${other.node.name}`).toSorted(), [
      'added n9',
      'removed n2',
    ]);
  });

  test('an unchanged cluster costs no list: 304, and the view stays current', async () => {
    const clock = new ManualClock(Date.now());
    await using simulator = await startSimulator({ nodes: 'n[0-29]', clock, latency });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.start();
    using _fast = watch.pollFast();
    await watch.nodes.listSince(0);
    clock.advance(secondsLater);
    await watch.nodes.listSince(Date.now()); // the last one in full
    const from = simulator.requests.length;
    const first = await watch.nodes.listSince(Date.now());
    const second = await watch.nodes.listSince(first.at);
    assert.ok(second.at > first.at);
    assert.equal(second.nodes.get('n0'), first.nodes.get('n0'), 'the very same objects');
    const lists = simulator.requests.slice(from).filter(({ path }) => path.startsWith('slurm/nodes'));
    assert.ok(lists.length >= 2);
    for (const { status, bytes } of lists) assert.deepEqual([status, bytes], [304, 0]);
  });

  test('parses only the changed node of a list', async (t) => {
    await using simulator = await startSimulator({ nodes: 'n[0-199]' });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.nodes.start();
    const before = await watch.nodes.listSince(0);
    const node = simulator.cluster.node('n7');
    node.comment = 'changed';
    simulator.cluster.touch(node);
    const parse = t.mock.method(JSON, 'parse');
    const after = await watch.nodes.listSince(Date.now());
    const parsed = parse.mock.calls.filter(({ arguments: [text] }) => text.includes('"cpu_load"'));
    assert.equal(parsed.length, 1);
    assert.equal(after.nodes.get('n7')?.comment, 'changed');
    assert.equal(after.nodes.get('n8'), before.nodes.get('n8'));
  });

  test('never uses the response for one node', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-2]' });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.start();
    await watch.nodes.listSince(Date.now());
    simulator.cluster.runJob(['n0']);
    const { nodes } = await watch.nodes.listSince(Date.now());
    assert.equal(nodes.get('n0')?.state.base, 'MIXED');
    assert.ok(!simulator.requests.some(({ path }) => path.startsWith('slurm/node/')));
  });

  test('24.11: its 500 for a change is not an outage, not even while the circuit is half-open', async () => {
    const clock = new ManualClock(Date.now());
    await using simulator = await startSimulator({ nodes: 'n[0-1]', release: '24.11', clock, latency });
    const client = simulator.client({ circuit: { threshold: 1, pauseMs: 10 } });
    await client.nodes.list();
    clock.advance(secondsLater); // older than the second of the last change of partitions
    simulator.faults.controllerDown = true;
    await assert.rejects(client.nodes.list());
    assert.equal(client.circuit().state, 'open');
    simulator.faults.controllerDown = false;
    await eventually(() => assert.equal(client.circuit().waitMs, 0));
    const node = simulator.cluster.node('n0');
    node.comment = 'x';
    simulator.cluster.touch(node);
    const since = await client.nodes.listSince(Math.floor(clock.now() / 1000));
    assert.ok(since.changed && since.items.some(({ comment }) => comment === 'x'));
    assert.ok(
      simulator.requests.some(({ status, query }) => status === 500 && query.includes('update_time')),
    );
    assert.equal(client.circuit().state, 'closed');
  });

  test('after controllerTime() reports a clock that was set back, the watch lists in full', async () => {
    const clock = new ManualClock(Date.now());
    await using simulator = await startSimulator({ nodes: 'n[0-29]', clock, latency });
    const client = simulator.client();
    await using watch = new SlurmWatch({ client, pace: { fastMs: 20 } });
    watch.start();
    using _fast = watch.pollFast();
    clock.advance(secondsLater);
    await watch.nodes.listSince(Date.now());
    clock.set(clock.now() - 3_600_000);
    const { at } = await client.nodes.drain('n1', 'test: x');
    const isDrainedIn = async (moment: number) =>
      (await watch.nodes.listSince(moment)).nodes.get('n1')?.state.flags.has('DRAIN');
    assert.equal(await isDrainedIn(at), false, 'Slurm does not tell');
    watch.nodes.controllerTime(clock.now());
    assert.equal(await isDrainedIn(Date.now()), true);
  });

  test('lists in full after an outage: "unchanged" of another Slurm would mean nothing', async () => {
    const clock = new ManualClock(Date.now());
    await using simulator = await startSimulator({ nodes: 'n[0-1]', clock, latency });
    const client = simulator.client({ circuit: { threshold: 100 } });
    await using watch = new SlurmWatch({ client, pace: { fastMs: 20 } });
    watch.start();
    using _fast = watch.pollFast();
    await watch.nodes.listSince(0);
    clock.advance(secondsLater);
    await watch.nodes.listSince(Date.now()); // from here on "unchanged" would be the answer
    simulator.faults.controllerDown = true;
    await eventually(() => assert.equal(watch.nodes.view.kind, 'unknown'));
    const from = simulator.requests.length;
    simulator.faults.controllerDown = false;
    await watch.nodes.listSince(Date.now());
    const [first] = simulator.requests
      .slice(from)
      .filter(({ path, status }) => path === 'slurm/nodes/' && status !== 502);
    assert.deepEqual([first?.status, first?.query], [200, '']);
  });

  test('notifies of known, unknown, known, and of the changes in between', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-1]' });
    const client = simulator.client({ circuit: { threshold: 2, pauseMs: 50 } });
    await using watch = new SlurmWatch({ client, pace: { fastMs: 20 } });
    const heard: string[] = [];
    watch.nodes.subscribe(({ view, changes }) =>
      heard.push(`${view.kind} ${changes.map(({ type, node }) => `${type} ${node.name}`).join(' ')}`.trim()),
    );
    watch.start();
    using _fast = watch.pollFast();
    await watch.nodes.listSince(0);
    simulator.faults.controllerDown = true;
    await eventually(() => assert.equal(watch.nodes.view.kind, 'unknown'));
    const { view } = watch.nodes;
    assert.ok(view.kind === 'unknown' && view.why.code === 'Unavailable' && view.last?.nodes.size === 2);
    simulator.cluster.removeNode('n1');
    simulator.faults.controllerDown = false;
    await watch.nodes.listSince(Date.now());
    assert.deepEqual(heard, ['known added n0 added n1', 'unknown', 'known removed n1']);
  });
});

describe('jobs', () => {
  test('one full list at the start, then states, and one GET for each job that begins to run', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-9]' });
    const { cluster } = simulator;
    const first = cluster.runJob(['n0'], { timeLimit: 60 });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.start();
    using _fast = watch.pollFast();
    await watch.jobs.listSince(Date.now());
    const second = cluster.runJob(['n1', 'n2'], { timeLimit: 10 });
    const endless = cluster.runJob(['n3']);
    const known = await watch.jobs.listSince(Date.now());
    const { deadlines, complete } = deadlinesOf(known);
    assert.ok(complete);
    const startOf = (id: number) => Math.floor(cluster.job(id).startedAt / 1000) * 1000;
    assert.deepEqual(Object.fromEntries(deadlines), {
      n0: startOf(first) + 3_600_000,
      n1: startOf(second) + 600_000,
      n2: startOf(second) + 600_000,
      n3: 'infinite',
    });
    cluster.finishJob(second);
    cluster.finishJob(endless);
    const after = await watch.jobs.listSince(Date.now());
    assert.deepEqual([...deadlinesOf(after).deadlines.keys()], ['n0']);
    await watch.jobs.listSince(after.at);
    const count = (path: RegExp) => simulator.requests.filter((request) => path.test(request.path)).length;
    assert.equal(count(/^slurm\/jobs\/$/), 1);
    assert.equal(count(/^slurm\/job\/\d+$/), 2);
  });

  test('a job that was requeued and runs again has new deadlines', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-1]', startDelayMs: 1e9 });
    const { cluster } = simulator;
    const id = cluster.runJob(['n0'], { timeLimit: 10 });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.start();
    using _fast = watch.pollFast();
    await watch.jobs.listSince(0);
    cluster.requeueJob(id);
    await watch.jobs.listSince(Date.now());
    Object.assign(cluster.job(id), { state: 'RUNNING', nodes: ['n1'], startedAt: Date.now() });
    cluster.touchJob(cluster.job(id));
    const known = await watch.jobs.listSince(Date.now());
    assert.deepEqual([...deadlinesOf(known).deadlines.keys()], ['n1']);
  });

  /** The job leaves its nodes and runs elsewhere, and no list sees it in between. */
  function runElsewhere({ cluster }: Simulator, id: number, node: string): void {
    cluster.requeueJob(id);
    Object.assign(cluster.job(id), { state: 'RUNNING', nodes: [node], startedAt: Date.now() });
    cluster.touchJob(cluster.job(id));
    cluster.touch(cluster.node(node));
  }

  test('a job that was requeued and runs again between two lists has new deadlines, because its old node changed', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-2]' });
    const id = simulator.cluster.runJob(['n0'], { timeLimit: 10 });
    const other = simulator.cluster.runJob(['n2'], { timeLimit: 10 });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.start();
    await Promise.all([watch.nodes.listSince(0), watch.jobs.listSince(0)]);
    runElsewhere(simulator, id, 'n1');
    await watch.nodes.listSince(Date.now());
    const known = await watch.jobs.listSince(Date.now());
    assert.deepEqual([...deadlinesOf(known).deadlines.keys()].toSorted(), ['n1', 'n2']);
    assert.ok(deadlinesOf(known).complete);
    const next = simulator.cluster.runJob(['n0'], { timeLimit: 10 });
    for (const _ of [1, 2]) await watch.jobs.listSince(Date.now());
    const asked = (job: number) =>
      simulator.requests.filter(({ path }) => path === `slurm/job/${job}`).length;
    assert.deepEqual(
      [asked(id), asked(next)],
      [1, 1],
      'once each: a doubt is over with the list that settles it',
    );
    assert.equal(asked(other), 0, 'a job on another node is not asked for');
  });

  test('after an outage jobs are missing until they were read again, in bounded rounds', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-100]' });
    const moved = simulator.cluster.runJob(['n0'], { timeLimit: 10 });
    for (let index = 1; index < 100; index += 1) simulator.cluster.runJob([`n${index}`], { timeLimit: 5 });
    const client = simulator.client({ circuit: { threshold: 100 } });
    await using watch = new SlurmWatch({ client, pace: { fastMs: 20 } });
    watch.jobs.start(); // without the watch of nodes
    using _fast = watch.jobs.pollFast();
    assert.equal((await watch.jobs.listSince(0)).running.size, 100);
    simulator.faults.controllerDown = true;
    const seen: KnownJobs[] = [];
    watch.jobs.subscribe(({ view }) => {
      if (view.kind === 'known') seen.push(view);
    });
    await eventually(() => assert.equal(watch.jobs.view.kind, 'unknown'));
    runElsewhere(simulator, moved, 'n100');
    simulator.faults.controllerDown = false;
    await watch.jobs.listSince(Date.now());
    assert.deepEqual([seen[0]?.running.size, seen[0]?.missing.size], [64, 36]);
    assert.equal(seen[0] && deadlinesOf(seen[0]).complete, false);
    const known = await eventually(async () => {
      const later = await watch.jobs.listSince(Date.now());
      assert.ok(deadlinesOf(later).complete);
      return later;
    });
    assert.equal(known.running.get(String(moved))?.nodes, 'n100');
    assert.equal(known.running.size, 100);
  });

  test('reads many jobs that begin at once in bounded rounds; until then they are missing', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-199]' });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.start();
    await watch.jobs.listSince(0);
    for (let index = 0; index < 200; index += 1) simulator.cluster.runJob([`n${index}`], { timeLimit: 5 });
    const first = await watch.jobs.listSince(Date.now());
    assert.equal(first.running.size, 64);
    assert.equal(first.missing.size, 136);
    assert.equal(deadlinesOf(first).complete, false);
    const all = await eventually(async () => {
      const known = await watch.jobs.listSince(Date.now());
      assert.equal(known.missing.size, 0);
      return known;
    });
    assert.equal(deadlinesOf(all).deadlines.size, 200);
  });

  test('a job that is listed as running and cannot be read stays missing: deadlines are not complete', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-1]' });
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    watch.jobs.start();
    await watch.jobs.listSince(0);
    const id = simulator.cluster.runJob(['n0'], { timeLimit: 5 });
    simulator.hiddenJobs.add(id);
    const known = await watch.jobs.listSince(Date.now());
    assert.deepEqual([...known.missing], [String(id)]);
    assert.equal(deadlinesOf(known).complete, false);
    simulator.hiddenJobs.clear();
    await eventually(async () => assert.ok(deadlinesOf(await watch.jobs.listSince(Date.now())).complete));
  });

  test('works without the full list if it is too long', async () => {
    await using simulator = await startSimulator({ nodes: 'n[0-99]' });
    for (let index = 0; index < 100; index += 1) simulator.cluster.runJob([`n${index}`], { timeLimit: 5 });
    await using watch = new SlurmWatch({
      client: simulator.client({ maxAnswerBytes: 300_000 }),
      pace: { fastMs: 20 },
    });
    watch.jobs.start();
    const first = await watch.jobs.listSince(0);
    assert.equal(first.missing.size, 100);
    const all = await eventually(async () => {
      const known = await watch.jobs.listSince(Date.now());
      assert.equal(known.missing.size, 0);
      return known;
    });
    assert.equal(deadlinesOf(all).deadlines.size, 100);
  });

  test('notifies of ended jobs', async () => {
    await using simulator = await startSimulator({ nodes: 'n0' });
    const id = simulator.cluster.runJob(['n0']);
    await using watch = new SlurmWatch({ client: simulator.client(), pace: { fastMs: 20 } });
    const ends: string[] = [];
    watch.jobs.subscribe(({ changes }) => {
      for (const change of changes)
        if (change.type === 'changed' && change.ended) ends.push(`${change.id} ${change.state.join('+')}`);
    });
    watch.start();
    await watch.jobs.listSince(0);
    simulator.cluster.finishJob(id, 'FAILED');
    await watch.jobs.listSince(Date.now());
    assert.deepEqual(ends, [`${id} FAILED`]);
  });
});
