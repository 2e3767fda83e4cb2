import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import type { ObservedCluster } from './observe.ts';
import { emptyMemory } from './plan.ts';
import { type Connected, clusterStatus } from './status.ts';

const connected = (over: Partial<Connected> = {}): Connected => ({
  server: 'http://slurm:6820',
  slurmVersion: '26.05.5',
  apiVersion: 'v0.0.45',
  view: { kind: 'unknown', since: 0, why: 'not read yet' },
  jobs: undefined,
  accounting: undefined,
  ...over,
});
const failure = { class: 'transient', reason: 'ConnectionRefused', message: 'nothing listens' } as const;
const of = (draft: ReturnType<typeof clusterStatus>, type: string) =>
  draft.conditions.find((condition) => condition.type === type);

const observed = (over: Partial<ObservedCluster> = {}) => ({
  unready: [],
  hasAccounting: false,
  lastVersion: undefined,
  memory: emptyMemory,
  ...over,
});

test('Slurm that answers while a component fails is Ready and Degraded, and the message names the component', () => {
  const draft = clusterStatus(
    connected(),
    observed({
      unready: [
        { kind: 'NodeSet', name: 'gpu', message: 'no image' },
        { kind: 'LoginSet', name: 'login', message: 'x' },
      ],
    }),
  );
  assert.equal(of(draft, conditionType.ready)?.status, 'True');
  assert.equal(of(draft, conditionType.degraded)?.status, 'True');
  assert.match(of(draft, conditionType.degraded)?.message ?? '', /^NodeSet gpu .*no image \(and 1 more\)$/);
});

test('what is not known of nodes and jobs is left out, not called zero', () => {
  const { fields } = clusterStatus(connected(), observed());
  assert.equal('nodes' in fields || 'jobs' in fields, false);
  assert.equal(clusterStatus(failure, observed()).fields.isReady, false);
});

test('the version of a Slurm that answered once stays while it does not answer: jobs may be there', () => {
  const version = (outcome: Parameters<typeof clusterStatus>[0], lastVersion?: string) =>
    clusterStatus(outcome, observed({ lastVersion })).fields.slurmVersion;
  assert.equal(version(failure), undefined);
  assert.equal(version(failure, '26.05.5'), '26.05.5');
  assert.equal(version(connected(), '24.11.5'), '26.05.5');
});

test('the accounting is told as Slurm hears it: answers, refuses, or is not known', () => {
  const database = (outcome: Parameters<typeof clusterStatus>[0], over: Partial<ObservedCluster> = {}) =>
    of(clusterStatus(outcome, observed({ hasAccounting: true, ...over })), conditionType.databaseReachable);
  assert.equal(database(connected({ accounting: { kind: 'answers' } }))?.status, 'True');
  const refused = database(
    connected({ accounting: { kind: 'fails', words: 'Unable to connect to database' } }),
  );
  assert.deepEqual([refused?.status, refused?.message], ['False', 'Unable to connect to database']);
  const silent = connected({ accounting: { kind: 'silent', words: 'no response in 2.5 s' } });
  assert.equal(database(silent)?.status, 'Unknown', 'a busy slurmdbd may be slow once');
  const memory = { ...emptyMemory, accountingWasSilent: true };
  assert.equal(database(silent, { memory })?.message, 'no response in 2.5 s');
  assert.equal(
    database(failure)?.status,
    'Unknown',
    'an old answer is not kept when Slurm cannot be queried',
  );
  assert.equal(database(connected(), { hasAccounting: false }), undefined);
});
