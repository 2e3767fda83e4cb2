/** A tab and a server that fails in every way that a network has: what is shown is live, or said not to be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@slurm-operator/slurm/testing';
import { LiveCluster } from './live-cluster.ts';

class Source extends EventTarget {
  closed = false;

  close(): void {
    this.closed = true;
  }

  say(name: string, data: unknown): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
  }
}

const known = (at: number) => ({ kind: 'known', at });
const live = (jobs: number) => ({
  nodes: 1,
  jobs,
  figures: { jobs: { running: jobs } },
  freshness: { nodes: known(900), jobs: known(900), now: 1_000 },
});
const node = (key: string, use = 'idle') => ({ key, use });

/** Answers of the server arrive in between. */
const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A tab, and a server whose answers the test changes: by the end of the path; a path without an answer fails. */
function openTab() {
  const opened: Source[] = [];
  const clock = new ManualClock(1_000);
  const page = Object.assign(new EventTarget(), { hidden: false });
  const answers: Record<string, unknown> = {
    live: live(5),
    nodes: { version: 1, rows: [node('n0'), node('n1')] },
  };
  const tab = new LiveCluster('slurm', 'slurm', {
    openStream: () => {
      const source = new Source();
      opened.push(source);
      return source as unknown as EventSource; // what the tab uses of it
    },
    read: async <T>(path: string) => {
      const answer = answers[path.split('/').at(-1) ?? ''];
      if (answer === undefined) throw new TypeError('fetch failed');
      return answer as T;
    },
    page: page as unknown as Document, // what the tab uses of it
    clock,
    random: () => 0.5,
  });
  const last = () => {
    const source = opened.at(-1);
    assert.ok(source !== undefined);
    return source;
  };
  return {
    tab,
    opened,
    clock,
    page,
    answers,
    last,
    keys: () => [...tab.nodes.value.keys()],
    async connected() {
      last().say('hello', live(7));
      await settle();
      return last();
    },
  };
}

test('a snapshot, then deltas', async () => {
  const { connected, keys, tab } = openTab();
  const source = await connected();
  assert.deepEqual(keys(), ['n0', 'n1']);
  source.say('nodes', { from: 1, to: 2, set: [node('n1', 'down')], removed: ['n0'] });
  assert.deepEqual([...tab.nodes.value.values()], [node('n1', 'down')]);
  assert.equal(tab.problem.value, '');
});

test('a delta that does not continue, and being told to read again: the table is read again', async () => {
  const { connected, answers, keys } = openTab();
  const source = await connected();
  answers['nodes'] = { version: 9, rows: [node('n5')] };
  source.say('nodes', { from: 8, to: 9, set: [], removed: [] });
  await settle();
  assert.deepEqual(keys(), ['n5']);
  answers['nodes'] = { version: 10, rows: [node('n6')] };
  source.say('resync', {});
  await settle();
  assert.deepEqual(keys(), ['n6']);
});

test('where no stream can be had the page asks, says so, and tries a stream again', async () => {
  const { connected, last, clock, answers, keys, tab } = openTab();
  for (let turn = 0; turn < 3; turn += 1) {
    last().dispatchEvent(new Event('error'));
    await settle();
    clock.advance(13_000);
    await settle();
  }
  assert.deepEqual(keys(), ['n0', 'n1']);
  assert.equal(tab.figures.value?.jobs.running, 5);
  assert.match(tab.problem.value, /asks every ten seconds/);
  answers['nodes'] = { version: 2, rows: [node('n9')] };
  last().dispatchEvent(new Event('error'));
  await settle();
  assert.deepEqual(keys(), ['n9']);
  clock.advance(13_000);
  await connected();
  assert.equal(tab.problem.value, '');
});

test('a dead connection is noticed', async () => {
  const { connected, clock, answers, keys, tab } = openTab();
  const source = await connected();
  clock.advance(30_000);
  source.say('freshness', live(1).freshness);
  clock.advance(30_000);
  assert.equal(source.closed, false, 'the server still says something');
  delete answers['live'];
  clock.advance(11_000);
  await settle();
  assert.equal(source.closed, true);
  assert.match(tab.problem.value, /connection to the dashboard is lost/);
  assert.deepEqual(keys(), ['n0', 'n1'], 'the last that arrived stays');
});

test('a proxy that holds events back is no stream', async () => {
  const { last, clock, keys } = openTab();
  const source = last();
  clock.advance(11_000);
  await settle();
  assert.equal(source.closed, true);
  assert.deepEqual(keys(), ['n0', 'n1'], 'asked for without a stream');
});

test('a hidden tab holds no connection, and events of a closed stream count no more', async () => {
  const { connected, keys, page, opened } = openTab();
  const source = await connected();
  page.hidden = true;
  page.dispatchEvent(new Event('visibilitychange'));
  assert.equal(source.closed, true);
  source.say('nodes', { from: 1, to: 2, set: [], removed: ['n0'] });
  assert.deepEqual(keys(), ['n0', 'n1']);
  const before = opened.length;
  page.hidden = false;
  page.dispatchEvent(new Event('visibilitychange'));
  assert.equal(opened.length, before + 1);
});

test('a restart of the server is no news: the tab is live again, and shows no notice', async () => {
  const { connected, clock, tab } = openTab();
  const source = await connected();
  source.dispatchEvent(new Event('error'));
  await settle();
  assert.equal(tab.problem.value, '');
  clock.advance(2_000);
  await connected();
  assert.equal(tab.problem.value, '');
});
