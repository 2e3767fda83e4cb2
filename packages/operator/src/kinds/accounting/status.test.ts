import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import type { Condition, Live } from '@slurm-operator/kube';
import { anAccounting, podFacts } from '../../../testing/objects.ts';
import type { PodFacts } from '../../framework/status/pods.ts';
import { externalConditions, ownConditions } from './status.ts';

const pod = podFacts;
const answer = (status: 'True' | 'False'): Condition => ({
  type: conditionType.databaseReachable,
  status,
  reason: 'x',
  message: 'Unable to connect to database',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const accounting = anAccounting() as Live<ReturnType<typeof anAccounting>>;

const cases: readonly {
  readonly name: string;
  readonly pods: readonly PodFacts[];
  readonly answers?: readonly Condition[];
  readonly ready: string;
  readonly database: string;
  readonly says?: RegExp;
}[] = [
  { name: 'all pods are ready', pods: [pod()], answers: [answer('True')], ready: 'True', database: 'True' },
  {
    name: 'it has not been queried yet',
    pods: [pod()],
    ready: 'True',
    database: 'True',
    says: /responded when slurmdbd started/,
  },
  {
    name: 'a slurmdbd that listens has lost its database',
    pods: [pod()],
    answers: [answer('False')],
    ready: 'False',
    database: 'False',
    says: /lost the connection to its database at .*Unable to connect/,
  },
  {
    name: 'slurmdbd itself is away, whatever Slurm hears',
    pods: [],
    answers: [answer('False')],
    ready: 'False',
    database: 'Unknown',
  },
  {
    name: 'the password is wrong',
    pods: [
      pod({ ready: false, waiting: 'CrashLoopBackOff', lastLogLine: 'error: mysql 1045 Access denied' }),
    ],
    ready: 'False',
    database: 'False',
    says: /refuses the user or the password/,
  },
  {
    name: 'its node is lost',
    pods: [pod({ ready: false, running: false, lostWith: 'node-2' })],
    ready: 'False',
    database: 'Unknown',
  },
];

for (const { name, pods, answers = [], ready, database, says } of cases)
  test(`${name}: Ready ${ready}, DatabaseReachable ${database}`, () => {
    const found = ownConditions(accounting, [], pods, answers);
    const of = (type: string) => found.find((condition) => condition.type === type);
    assert.equal(of(conditionType.ready)?.status, ready);
    assert.equal(of(conditionType.databaseReachable)?.status, database);
    if (says !== undefined) assert.match(of(conditionType.databaseReachable)?.message ?? '', says);
  });

test('a slurmdbd elsewhere is Ready until Slurm hears otherwise (upstream weakness 5)', () => {
  const external = anAccounting({
    external: true,
    externalConfig: { host: 'dbd.example.com', port: 6819 },
  }) as typeof accounting;
  assert.equal(externalConditions(external, [answer('True')])[0]?.reason, 'External');
  const [ready] = externalConditions(external, [answer('False')]);
  assert.deepEqual([ready?.status, ready?.reason], ['False', 'DatabaseUnreachable']);
  assert.match(ready?.message ?? '', /dbd\.example\.com:6819/);
});
