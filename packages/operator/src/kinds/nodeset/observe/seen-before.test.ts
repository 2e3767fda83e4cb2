import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSet } from '@slurm-operator/api';
import type { Cache } from '@slurm-operator/kube';
import { aPod } from '@slurm-operator/kube/testing';
import { emptyMemory } from '../plan/memory.ts';
import { observeFacts } from './observe-facts.ts';
import { SeenBefore } from './seen-before.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const count = 50;
const ordinals = Array.from({ length: count }, (_, ordinal) => ordinal);

const pod = (ordinal: number, annotations: Record<string, string> = {}) =>
  aPod({
    metadata: {
      name: `w-${ordinal}`,
      namespace: 'slurm',
      uid: `uid-${ordinal}`,
      labels: { 'app.kubernetes.io/name': 'slurmd', 'app.kubernetes.io/instance': 'w' },
      annotations,
      ownerReferences: [{ kind: 'NodeSet', name: 'w', uid: 'set', controller: true }],
    },
    spec: { hostname: `w-${ordinal}`, nodeName: `n-${ordinal}`, containers: [{ name: 'slurmd' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });

const node = (ordinal: number, since = '2026-01-01T00:00:00Z') => ({
  metadata: { name: `n-${ordinal}`, creationTimestamp: '2025-01-01T00:00:00Z' },
  status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] },
});

const slurmNode = (ordinal: number, comment = '') => ({
  name: `w-${ordinal}`,
  partitions: ['all'],
  state: { base: 'IDLE', flags: new Set() },
  comment,
  features: ['w'],
  gres: '',
});

function nodeSet(nodeSelector: Record<string, string> = {}): NodeSet {
  return {
    metadata: { name: 'w', namespace: 'slurm', uid: 'set' },
    spec: {
      controllerRef: { name: 'main' },
      scalingMode: 'StatefulSet',
      replicas: count,
      partition: { enabled: false },
      template: { spec: { nodeSelector } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    },
  } as unknown as NodeSet;
}

function world() {
  const seen = new SeenBefore();
  const state = {
    pods: ordinals.map((ordinal) => pod(ordinal)),
    nodes: ordinals.map((ordinal) => node(ordinal)),
    slurm: ordinals.map((ordinal) => slurmNode(ordinal)),
    deadlines: new Map<string, number>(),
    set: nodeSet(),
  };
  const lists = (): Record<string, readonly unknown[]> => ({ pods: state.pods, nodes: state.nodes });
  const cache = {
    list: ({ plural }: { plural: string }) => lists()[plural] ?? [],
    get: () => undefined,
  } as unknown as Cache;
  const look = (memory: SeenBefore) =>
    observeFacts(
      state.set,
      {
        kind: 'known',
        at: now,
        nodes: state.slurm as never,
        deadlines: state.deadlines,
        jobsUnknown: undefined,
        jobsAfterNodes: true,
        controllerStartedAt: 0,
      },
      emptyMemory,
      { cache, propagatedConditions: [], release: undefined, specProblems: [], seen: memory },
      now,
    );
  /** How many objects an observation processes now. Its result must equal an observation without memory. */
  const cost = () => {
    const before = seen.looks;
    assert.deepEqual(look(seen), look(new SeenBefore()));
    return seen.looks - before;
  };
  return { state, cost };
}

test('a look costs what changed since the last one', () => {
  const { state, cost } = world();
  assert.equal(cost(), 3 * count, 'every pod, machine and Slurm node at first');
  assert.equal(cost(), 0, 'nothing changed');
  state.pods[3] = pod(3, { 'nodeset.slinky.slurm.net/pod-cordon': 'true' });
  assert.equal(cost(), 1, 'one pod');
  state.slurm[4] = slurmNode(4, 'mine');
  assert.equal(cost(), 1, 'one Slurm node');
  state.deadlines.set('w-5', now + 1);
  assert.equal(cost(), 1, 'the jobs of one Slurm node');
  state.set = nodeSet();
  assert.equal(cost(), 0, 'a NodeSet whose status was written');
  state.pods.push(pod(count));
  assert.equal(cost(), 1, 'one more pod');
  state.pods.splice(0, 10);
  assert.equal(cost(), 0, 'fewer pods');
});

test('a machine that is lost is seen on the pod that did not change', () => {
  const { state, cost } = world();
  cost();
  state.nodes[7] = node(7, '2026-01-01T23:59:55Z');
  assert.equal(cost(), 1, 'the machine');
});

test('where the template says something else about machines they are all looked at again', () => {
  const { state, cost } = world();
  cost();
  state.set = nodeSet({ rack: 'a' });
  assert.equal(cost(), count);
});
