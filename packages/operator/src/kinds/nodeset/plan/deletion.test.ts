/** Laws L6 and L16: what the deletion of a NodeSet waits for, what it does not wait for, and what it says meanwhile. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Observed, SlurmNode } from '../model/observed.ts';
import { nodeSetStatus } from '../status/status.ts';
import { planWorkers } from './plan-workers.ts';

const deleting = { deleting: true } as const;
const noSlurm = { slurm: { kind: 'unknown', since: 0, why: 'connection refused' } } as const;
const noController = { ...deleting, ...noSlurm, controllerExists: false };
const drained: Partial<SlurmNode> = {
  flags: new Set(['DRAIN']),
  reason: 'slurm-operator: Pod (slurm/w-0) is pending termination for deletion',
};
const stuck = worker(0, { terminating: true, endsBy: now - 1, nodeReachable: false });

const releases = (given: Observed) =>
  planWorkers(given, now).actions.some(({ kind }) => kind === 'remove-finalizer');
const message = (given: Observed) =>
  nodeSetStatus(given, planWorkers(given, now), undefined, now).conditions.find(
    ({ type }) => type === 'Ready',
  )?.message;

describe('the finalizer', () => {
  const cases: readonly [what: string, given: Observed, released: boolean][] = [
    ['goes when nothing is left', observed([], [], deleting), true],
    [
      'stays for a pod that still ends',
      observed([worker(0, { terminating: true, endsBy: now + 1 })], [], deleting),
      false,
    ],
    ['goes although a pod terminates on a machine that is off', observed([stuck], [], deleting), true],
    ['goes although that is so and the Controller is gone', observed([stuck], [], noController), true],
    [
      'stays while the grace period of that pod is not over',
      observed([{ ...stuck, endsBy: now + 1_000 }], [], deleting),
      false,
    ],
    [
      'stays while the machine may still end it',
      observed([{ ...stuck, nodeReachable: true }], [], deleting),
      false,
    ],
    [
      'stays while Slurm, which should answer, does not',
      observed([stuck], [], { ...deleting, ...noSlurm }),
      false,
    ],
    [
      'stays while its record has work',
      observed([stuck], [slurmNode(0, { ...drained, base: 'ALLOCATED' })], deleting),
      false,
    ],
    [
      'stays for a pod that is not deleted yet',
      observed([worker(0, { nodeReachable: false })], [], deleting),
      false,
    ],
  ];
  for (const [what, given, released] of cases) test(what, () => assert.equal(releases(given), released));
});

test('the record of a pod that terminates on a machine that is off goes, once it has no work', () => {
  const kinds = (node: Partial<SlurmNode>) =>
    planWorkers(observed([stuck], [slurmNode(0, node)], deleting), now).actions.map(({ kind }) => kind);
  assert.deepEqual(kinds({}), ['drain']);
  assert.deepEqual(kinds(drained), ['delete-record']);
  assert.deepEqual(kinds({ ...drained, base: 'ALLOCATED' }), []);
});

test('a NodeSet that is not being deleted still waits for such a pod: its name is taken', () => {
  assert.deepEqual(planWorkers(observed([stuck], [slurmNode(0, drained)], { replicas: 0 }), now).actions, []);
});

test('the condition names the pod, its node and the command', () => {
  const text = message(observed([stuck], [slurmNode(0, { ...drained, base: 'ALLOCATED' })], deleting));
  assert.match(text ?? '', /Pod w-0 is terminating on Node n0, which does not respond/);
  assert.match(text ?? '', /"kubectl delete pod w-0 -n slurm --force --grace-period=0"/);
});

test('the condition says what a Slurm that does not answer holds up, and how to go on without it', () => {
  const text = message(observed([worker(0)], [], { ...deleting, ...noSlurm })) ?? '';
  assert.match(text, /1 worker stays until Slurm responds: connection refused/);
  assert.match(text, /delete Controller slurm; .* set spec.deletionPolicy to Delete/);
});

test('the condition says which work is waited for', () => {
  const text = message(observed([worker(0)], [slurmNode(0, { ...drained, base: 'ALLOCATED' })], deleting));
  assert.match(text ?? '', /1 worker remains: w-0 stays: w-0 is ALLOCATED\+DRAIN/);
});
