/** A tab and a server that fails in every way that a network has: what is shown is live, or said not to be. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { LiveCluster } from './live-cluster.ts';

class Source extends EventTarget {
  static opened: Source[] = [];
  readonly url: string;
  closed = false;

  constructor(url: string) {
    super();
    this.url = url;
    Source.opened.push(this);
  }

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

/** What the server answers by the end of the path; a path without an answer fails. */
let answers: Record<string, unknown>;
let asked: string[];
let tab: LiveCluster;

const kept = { document: globalThis.document, fetch: globalThis.fetch, EventSource: globalThis.EventSource };

describe('a tab of one cluster', () => {
  beforeEach((t) => {
    Source.opened = [];
    asked = [];
    answers = { live: live(5), nodes: { version: 1, rows: [node('n0'), node('n1')] } };
    Object.assign(globalThis, {
      document: Object.assign(new EventTarget(), { hidden: false }),
      EventSource: Source,
      fetch: async (path: string) => {
        const name = path.split('/').at(-1) ?? '';
        asked.push(name);
        const answer = answers[name];
        if (answer === undefined) throw new TypeError('fetch failed');
        return new Response(JSON.stringify(answer), { status: 200 });
      },
    });
    if ('mock' in t) t.mock.timers.enable({ apis: ['setTimeout'] });
    tab = new LiveCluster('slurm', 'slurm');
  });
  afterEach(() => {
    tab.close();
    Object.assign(globalThis, kept);
  });

  /** Answers of the server arrive in between. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const last = () => {
    const source = Source.opened.at(-1);
    assert.ok(source !== undefined);
    return source;
  };
  const keys = () => [...tab.nodes.value.keys()];

  async function connected(): Promise<Source> {
    last().say('hello', live(7));
    await settle();
    return last();
  }

  it('a snapshot, then deltas', async () => {
    const source = await connected();
    assert.deepEqual(keys(), ['n0', 'n1']);
    source.say('nodes', { from: 1, to: 2, set: [node('n1', 'down')], removed: ['n0'] });
    assert.deepEqual([...tab.nodes.value.values()], [node('n1', 'down')]);
    assert.equal(tab.problem.value, '');
  });

  it('a delta that does not continue, and being told to read again: the table is read again', async () => {
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

  it('where no stream can be had the page asks, says so, and tries a stream again', async (t) => {
    for (let turn = 0; turn < 3; turn += 1) {
      last().dispatchEvent(new Event('error'));
      await settle();
      t.mock.timers.tick(13_000);
      await settle();
    }
    assert.deepEqual(keys(), ['n0', 'n1']);
    assert.equal(tab.figures.value?.jobs.running, 5);
    assert.match(tab.problem.value, /asks every ten seconds/);
    answers['nodes'] = { version: 2, rows: [node('n9')] };
    last().dispatchEvent(new Event('error'));
    await settle();
    assert.deepEqual(keys(), ['n9']);
    t.mock.timers.tick(13_000);
    await connected();
    assert.equal(tab.problem.value, '');
  });

  it('a dead connection is noticed', async (t) => {
    const source = await connected();
    t.mock.timers.tick(30_000);
    source.say('freshness', live(1).freshness);
    t.mock.timers.tick(30_000);
    assert.equal(source.closed, false, 'the server still says something');
    answers = {};
    t.mock.timers.tick(11_000);
    await settle();
    assert.equal(source.closed, true);
    assert.match(tab.problem.value, /connection to the dashboard is lost/);
    assert.deepEqual(keys(), ['n0', 'n1'], 'the last that arrived stays');
  });

  it('a proxy that holds events back is no stream', async (t) => {
    const source = last();
    t.mock.timers.tick(11_000);
    await settle();
    assert.equal(source.closed, true);
    assert.deepEqual(keys(), ['n0', 'n1'], 'asked for without a stream');
  });

  it('a hidden tab holds no connection, and events of a closed stream count no more', async () => {
    const source = await connected();
    Object.assign(document, { hidden: true });
    document.dispatchEvent(new Event('visibilitychange'));
    assert.equal(source.closed, true);
    source.say('nodes', { from: 1, to: 2, set: [], removed: ['n0'] });
    assert.deepEqual(keys(), ['n0', 'n1']);
    const before = Source.opened.length;
    Object.assign(document, { hidden: false });
    document.dispatchEvent(new Event('visibilitychange'));
    assert.equal(Source.opened.length, before + 1);
  });

  it('a restart of the server is no news: the tab is live again, and shows no notice', async (t) => {
    const source = await connected();
    source.dispatchEvent(new Event('error'));
    await settle();
    assert.equal(tab.problem.value, '');
    t.mock.timers.tick(2_000);
    await connected();
    assert.equal(tab.problem.value, '');
  });
});
