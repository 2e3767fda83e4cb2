import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConf } from './conf-content.ts';
import { guardConfig } from './guard-config.ts';
import { recoverInForce } from './recover-in-force.ts';
import type { SlurmWork } from './slurm-work.ts';

const desired = 'MaxNodeCount=8\nNodeSet=short Feature=short\nPartitionName=short Nodes=short\n';
const silent: SlurmWork = { kind: 'unknown', why: 'no answer' };
const known: SlurmWork = {
  kind: 'known',
  jobs: [{ id: '4', active: true, partitions: ['long'], nodes: ['s1'], gres: [], array: false }],
  partitions: new Map([
    ['short', true],
    ['long', false],
  ]),
  partitionSets: new Map([['long', ['long']]]),
  nodes: new Map([
    ['s1', { drained: false, byGuard: false, line: 'NodeName=s1 CPUs=4' }],
    ['short-0', { drained: false, byGuard: false, line: undefined }],
  ]),
  nodeCount: 9,
  jobCount: 1,
};
const held = [
  { kind: 'Partition', name: 'long' },
  { kind: 'NodeSet', name: 'long' },
] as const;

test('partitions and nodes that Slurm has stand in for a ConfigMap that is gone', () => {
  const text = recoverInForce({ text: undefined, desired, held: [], slurm: known });
  const { text: guarded, holds } = guardConfig({ inForce: text, desired, slurm: known });
  for (const line of [
    'NodeSet=long Feature=long',
    'PartitionName=long Nodes=long Default=NO State=DRAIN',
    'NodeName=s1 CPUs=4',
    'MaxNodeCount=9',
  ])
    assert.ok(guarded.split('\n').includes(line), guarded);
  assert.deepEqual(
    holds.map(({ kind, name }) => `${kind} ${name}`),
    ['Partition long', 'NodeSet long', 'Node s1', 'Setting MaxNodeCount'],
  );
});

test('while Slurm does not answer, the status says what was held', () => {
  const text = recoverInForce({ text: desired, desired, held, slurm: silent });
  const { text: guarded } = guardConfig({ inForce: text, desired, slurm: silent });
  assert.match(guarded, /^PartitionName=long Nodes=long Default=NO State=DRAIN$/m);
  assert.match(guarded, /^NodeSet=long Feature=long$/m);
});

test('nothing is added to a ConfigMap that has all of it', () => {
  const slurm = { ...known, partitions: new Map([['short', true]]), nodes: new Map() };
  assert.equal(recoverInForce({ text: desired, desired, held: [], slurm }), desired);
});

test('the port that slurmctld has is kept where the ConfigMap is gone', () => {
  const from = recoverInForce({
    text: undefined,
    desired: `${desired}SlurmctldPort=7000\n`,
    held: [],
    slurm: known,
    port: 6817,
  });
  assert.equal(readConf(from).settings.get('slurmctldport'), '6817');
});
