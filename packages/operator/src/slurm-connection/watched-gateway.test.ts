import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SlurmClient, SlurmWatch } from '@slurm-operator/slurm';
import { WatchedGateway } from './watched-gateway.ts';

test('a node whose only work is suspended is not idle, whatever Slurm calls it', () => {
  const flags = new Set(['DRAIN']);
  const node = (name: string, base: string) => [name, { name, state: { base, flags } }] as const;
  const job = (nodes: string, state: string) =>
    [nodes, { nodes, state: [state], startedAt: 0, timeLimit: 5 }] as const;
  const gatewayOf = (jobs: object) =>
    new WatchedGateway({
      client: {} as SlurmClient,
      watch: {
        nodes: {
          view: {
            kind: 'known',
            at: 1,
            nodes: new Map([
              node('n0', 'IDLE'),
              node('n1', 'IDLE'),
              node('n2', 'ALLOCATED'),
              node('n3', 'IDLE'),
            ]),
          },
        },
        jobs: { view: jobs },
      } as unknown as SlurmWatch,
      controllerStartedAt: () => undefined,
      now: () => 1,
    });
  const states = (gateway: WatchedGateway) => {
    const view = gateway.view();
    return view.kind === 'known' ? view.nodes.map(({ state }) => [state.base, ...state.flags].join('+')) : [];
  };
  const running = new Map([job('n[1-2]', 'SUSPENDED'), job('n3', 'RUNNING')]);
  const missing = new Set();
  const at = 1;
  assert.deepEqual(states(gatewayOf({ kind: 'known', at, running, missing })), [
    'IDLE+DRAIN',
    'MIXED+DRAIN',
    'ALLOCATED+DRAIN',
    'IDLE+DRAIN',
  ]);
  assert.equal(states(gatewayOf({ kind: 'unknown', since: 0, why: { message: '' } })).length, 4);
});

describe('while a suspended job may be hidden behind an idle node, the view says so', () => {
  const gatewayOf = (jobs: object) =>
    new WatchedGateway({
      client: {} as SlurmClient,
      watch: {
        nodes: { view: { kind: 'known', at: 5, answeredAt: 6, nodes: new Map() } },
        jobs: { view: jobs },
      } as unknown as SlurmWatch,
      controllerStartedAt: () => undefined,
      now: () => 7,
    });
  const jobs = (at: number, missing: readonly string[], states: Record<string, string>) => ({
    kind: 'known',
    at,
    running: new Map(),
    missing: new Set(missing),
    states: new Map(Object.entries(states).map(([id, state]) => [id, [state]])),
  });
  const cases: readonly [
    what: string,
    jobs: object,
    expected: [jobsUnknown: RegExp | undefined, after: boolean],
  ][] = [
    [
      'jobs were never listed',
      { kind: 'unknown', since: 0, why: { message: 'not listed yet' } },
      [/not listed yet/, false],
    ],
    [
      'the nodes of a suspended job are still to be read',
      jobs(7, ['4'], { 4: 'SUSPENDED' }),
      [/job 4/, true],
    ],
    ['the nodes of a running job are still to be read', jobs(7, ['4'], { 4: 'RUNNING' }), [undefined, true]],
    ['jobs were listed before the nodes', jobs(6, [], {}), [undefined, false]],
    ['jobs were listed after the nodes', jobs(7, [], {}), [undefined, true]],
  ];
  for (const [what, view, [jobsUnknown, after]] of cases)
    test(what, () => {
      const seen = gatewayOf(view).view();
      assert.ok(seen.kind === 'known');
      if (jobsUnknown === undefined) assert.equal(seen.jobsUnknown, undefined);
      else assert.match(seen.jobsUnknown ?? '', jobsUnknown);
      assert.equal(seen.jobsAfterNodes, after);
    });
});

test('the view says whether every job that waits for its nodes is read', () => {
  const unread = (states: Record<string, string[]>, missing: readonly string[]) => {
    const jobs = { kind: 'known', at: 7, running: new Map(), missing: new Set(missing) };
    const watch = {
      nodes: { view: { kind: 'known', at: 5, answeredAt: 6, nodes: new Map() } },
      jobs: { view: { ...jobs, states: new Map(Object.entries(states)) } },
    } as unknown as SlurmWatch;
    const client = {} as SlurmClient;
    const view = new WatchedGateway({ client, watch, controllerStartedAt: () => 1, now: () => 8 }).view();
    return view.kind === 'known' && view.someWakingUnread;
  };
  assert.equal(unread({ 4: ['RUNNING', 'CONFIGURING'], 5: ['RUNNING'] }, ['4', '5']), true);
  assert.equal(unread({ 4: ['RUNNING', 'CONFIGURING'], 5: ['RUNNING'] }, ['5']), false);
});

test('a job that was suspended when the nodes were listed and runs in the next list of jobs has its node', () => {
  const node = { name: 'n0', state: { base: 'IDLE', flags: new Set(['DRAIN']) } };
  const job = { nodes: 'n0', state: ['RUNNING'], startedAt: 0, timeLimit: 5 };
  const base = (jobsAt: number) => {
    const view = new WatchedGateway({
      client: {} as SlurmClient,
      watch: {
        nodes: { view: { kind: 'known', at: 5, answeredAt: 6, nodes: new Map([['n0', node]]) } },
        jobs: {
          view: {
            kind: 'known',
            at: jobsAt,
            running: new Map([['1', job]]),
            missing: new Set(),
            states: new Map(),
          },
        },
      } as unknown as SlurmWatch,
      controllerStartedAt: () => undefined,
      now: () => 8,
    }).view();
    return view.kind === 'known' ? view.nodes.map(({ state }) => state.base) : [];
  };
  assert.deepEqual(base(7), ['MIXED']);
  // It may have ended between the two lists.
  assert.deepEqual(base(4), ['IDLE']);
});
