import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anAccounting, operatorDefaults } from '../../../testing/objects.ts';
import { describeActions, Sensitive } from '../../framework/actions.ts';
import type { ObservedAccounting } from './observe.ts';
import { planAccounting } from './plan.ts';

const observed = (over: Partial<ObservedAccounting> = {}, spec: object = {}): ObservedAccounting => ({
  accounting: anAccounting(spec),
  secrets: [
    { name: 'slurm-auth', keys: { 'slurm.key': 'd1' } },
    { name: 'slurm-jwt', keys: { 'jwt.key': 'd2' } },
    { name: 'mariadb', keys: { password: 'd3' } },
  ],
  jwks: [],
  missingRefs: [],
  password: new Sensitive('s3cret'),
  statefulSet: undefined,
  pods: [],
  answers: [],
  specProblems: [],
  ...over,
});

test('slurmdbd starts only after the Secret with its configuration is applied', () => {
  const { actions, problems } = planAccounting(observed(), operatorDefaults);
  const lines = describeActions(actions);
  assert.deepEqual(lines, [
    'apply Service slurm-accounting',
    'apply Secret slurm-accounting',
    'apply StatefulSet slurm-accounting after Secret slurm-accounting',
  ]);
  assert.deepEqual(problems, []);
});

test('a missing reference keeps the running slurmdbd as it is, and is reported', () => {
  const missing = { reason: 'SecretNotFound', message: 'create it' } as const;
  const { actions, problems } = planAccounting(
    observed({ missingRefs: [missing], password: undefined }),
    operatorDefaults,
  );
  assert.deepEqual(describeActions(actions), ['apply Service slurm-accounting']);
  assert.deepEqual(problems, [missing]);
});

test('a password that slurmdbd.conf cannot hold is a problem that does not quote it', () => {
  const plan = planAccounting(observed({ password: new Sensitive('a\nb') }), operatorDefaults);
  assert.equal(plan.problems[0]?.reason, 'InvalidSpec');
  assert.doesNotMatch(JSON.stringify(plan.problems), /a\\nb/);
  assert.equal(plan.actions.length, 1);
});

test('nothing is created for a slurmdbd that runs elsewhere', () => {
  const elsewhere = { external: true, externalConfig: { host: 'db.example', port: 6819 } };
  assert.deepEqual(planAccounting(observed({}, elsewhere), operatorDefaults).actions, []);
});
