import assert from 'node:assert/strict';
import { test } from 'node:test';
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
  assert.deepEqual(states(gatewayOf({ kind: 'known', running, missing })), [
    'IDLE+DRAIN',
    'MIXED+DRAIN',
    'ALLOCATED+DRAIN',
    'IDLE+DRAIN',
  ]);
  assert.equal(states(gatewayOf({ kind: 'unknown', since: 0, why: { message: '' } })).length, 4);
});
