import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aController, aLoginSet, operatorDefaults } from '../../../testing/objects.ts';
import { outcome } from '../../../testing/outcome.ts';
import { describeActions } from '../../framework/actions.ts';
import type { ObservedLoginSet } from './observe.ts';
import { planLoginSet } from './plan.ts';
import { loginSetStatus } from './status.ts';

const observed = (over: Partial<ObservedLoginSet> = {}): ObservedLoginSet => ({
  loginSet: aLoginSet(),
  controller: aController(),
  deployment: undefined,
  hostKeys: { ssh_host_rsa_key: 'digest' },
  secrets: [
    { name: 'sssd', keys: { 'sssd.conf': 'd1' } },
    { name: 'slurm-auth', keys: { 'slurm.key': 'd2' } },
  ],
  slurmKeyDigest: 'd2',
  pods: [],
  specProblems: [],
  ...over,
});
const lines = (over: Partial<ObservedLoginSet>) =>
  describeActions(planLoginSet(observed(over), operatorDefaults).actions);

test('login nodes start after their host keys exist and sshd is configured', () => {
  const [keys, ...first] = lines({ hostKeys: undefined });
  assert.match(keys ?? '', /^create host keys Secret /);
  assert.ok(first.every((line) => !line.includes('Deployment')));
  assert.match(lines({}).at(-1) ?? '', /^apply Deployment .* after ConfigMap /);
});

test('without a Controller, and without the Slurm key, no login node is started', () => {
  for (const over of [{ controller: undefined }, { secrets: [] }])
    assert.ok(lines(over).every((line) => !line.includes('Deployment')));
});

test('what the rules find in the specification is reported once', () => {
  const specProblems = [{ reason: 'ControllerNotFound', message: 'create it' } as const];
  const seen = observed({ controller: undefined, specProblems });
  const plan = planLoginSet(seen, operatorDefaults);
  const { conditions } = loginSetStatus(outcome(seen, plan));
  assert.equal(conditions.find(({ type }) => type === 'Ready')?.message, 'create it');
});
