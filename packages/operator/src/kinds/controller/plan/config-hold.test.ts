import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation, type Controller } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import { aController, aNodeSet } from '../../../../testing/objects.ts';
import type { SlurmWork } from '../../../slurm-config/guard/slurm-work.ts';
import { buildSlurmConf } from '../../../slurm-config/render/slurm-conf.ts';
import {
  describeHold,
  type HoldInput,
  holdConfig,
  holdEvents,
  type LeavingNodeSet,
  withReleasedJobs,
} from './config-hold.ts';

const noScripts = { prolog: [], epilog: [], prologSlurmctld: [], epilogSlurmctld: [] };
const confOf = (...nodeSets: ReturnType<typeof aNodeSet>[]) =>
  buildSlurmConf({ controller: aController(), accounting: undefined, nodeSets, scripts: noScripts }).text;
const long = aNodeSet({ partition: { enabled: true } }, { name: 'long' });
const work = (over: Partial<Extract<SlurmWork, { kind: 'known' }>> = {}): SlurmWork => ({
  kind: 'known',
  jobs: [{ id: '7', active: true, partitions: ['long'], nodes: [], gres: [], array: false }],
  partitions: new Map(),
  nodes: new Map(),
  partitionSets: new Map(),
  nodeCount: 1,
  jobCount: 1,
  ...over,
});
const input = (over: Partial<HoldInput> = {}): HoldInput => ({
  controller: aController(),
  desired: confOf(),
  owners: {},
  leaving: [],
  evidence: { inForce: { text: confOf(long), owners: { long: 'long' } }, slurm: work() },
  now: Date.parse('2026-01-01T00:00:00Z'),
  ...over,
});
const withStatus = (status: object, annotations = {}) =>
  ({ ...aController({}, { annotations }), status }) as unknown as Live<Controller>;

test('names the NodeSet that held lines come from, and keeps it in the list of those in force', () => {
  const hold = holdConfig(input());
  assert.deepEqual(hold.owners, { long: 'long' });
  assert.deepEqual(
    hold.waiting?.items.map(({ kind, name, nodeSet }) => [kind, name, nodeSet]),
    [
      ['Partition', 'long', 'long'],
      ['NodeSet', 'long', 'long'],
    ],
  );
  assert.deepEqual(holdConfig(input({ desired: confOf(long) })).waiting, undefined);
});

test('while the whole configuration waits, a NodeSet that is being deleted keeps its lines', () => {
  const jobs = [{ id: '9', active: true, partitions: ['adhoc'], nodes: [], gres: [], array: false }];
  const slurm = work({ jobs, partitions: new Map([['adhoc', true]]) });
  const inForce = { text: confOf(long), owners: { long: 'long' } };
  const hold = holdConfig(input({ evidence: { inForce, slurm } }));
  assert.equal(hold.text, inForce.text);
  assert.deepEqual(hold.owners, { long: 'long' });
});

test('the token names one configuration during one wait', () => {
  const first = holdConfig(input()).waiting;
  const heldConfig = { since: first?.since, token: first?.token };
  const token = (over: Partial<HoldInput>) => holdConfig(input(over)).waiting?.token;
  assert.equal(
    token({ controller: withStatus({ heldConfig }), now: 9e12 }),
    first?.token,
    'it does not change over time',
  );
  assert.notEqual(
    token({ desired: `${confOf()}ReturnToService=1\n` }),
    first?.token,
    'another configuration',
  );
  assert.notEqual(token({ now: 9e12 }), first?.token, 'the same one at another time');
});

test('the annotation forces exactly the configuration of its token, until that is in force', () => {
  const { waiting } = holdConfig(input());
  const annotations = { [annotation.forceConfig]: waiting?.token ?? '' };
  const controller = withStatus(
    { heldConfig: { since: waiting?.since, token: waiting?.token } },
    annotations,
  );
  const forced = holdConfig(input({ controller }));
  assert.deepEqual([forced.text, forced.forced], [confOf(), true]);
  assert.equal(forced.waiting?.token, waiting?.token, 'the status keeps it: the token depends on it');
  assert.equal(holdConfig(input({ controller, desired: `${confOf()}ReturnToService=1\n` })).forced, false);
});

test('the message gives the command that forces it', () => {
  const { waiting } = holdConfig(input());
  assert.ok(waiting !== undefined);
  assert.match(
    describeHold(waiting, { name: 'slurm', namespace: 'hpc' }),
    new RegExp(
      `1 running job \\(7\\).*kubectl annotate controller slurm -n hpc --overwrite ${annotation.forceConfig}=${waiting.token}$`,
    ),
  );
});

test('deletionPolicy decides which jobs keep the partition of a NodeSet that is being deleted', () => {
  const run = (deletionPolicy: 'Drain' | 'CancelPending' | 'Delete', active: boolean) =>
    holdConfig(
      input({
        leaving: [{ name: 'long', setName: 'long', deletionPolicy, workers: 0 }],
        evidence: {
          inForce: { text: confOf(long), owners: {} },
          slurm: work({
            jobs: [{ id: '7', active, partitions: ['long'], nodes: [], gres: [], array: false }],
          }),
        },
      }),
    ).waiting === undefined;
  assert.deepEqual(
    [run('Drain', true), run('CancelPending', true), run('Delete', true)],
    [false, false, true],
  );
  assert.deepEqual(
    [run('Drain', false), run('CancelPending', false), run('Delete', false)],
    [false, true, true],
  );
});

test('1,100 workers that become 500 keep MaxNodeCount until their nodes are gone', () => {
  const [many, fewer] = [1_100, 500].map((replicas) => confOf(aNodeSet({ replicas }, { name: 'cpu' })));
  assert.ok(many !== undefined && fewer !== undefined);
  const run = (nodeCount: number) =>
    holdConfig(
      input({
        desired: fewer,
        evidence: { inForce: { text: many, owners: {} }, slurm: work({ jobs: [], nodeCount }) },
      }),
    );
  assert.match(run(1_100).text, /^MaxNodeCount=4096\n$/m);
  assert.equal(run(1_024).text, fewer);
});

test('events tell when something begins to wait, when it is over, and when it was forced', () => {
  const hold = holdConfig(input());
  const reasons = (controller: Live<Controller>, after = hold) =>
    holdEvents(controller, after).map(({ reason }) => reason);
  assert.deepEqual(reasons(withStatus({})), ['ConfigHeld']);
  const heldConfig = { token: 't', items: [{ kind: 'Partition', name: 'long' }] };
  assert.deepEqual(reasons(withStatus({ heldConfig })), [], 'told once');
  const over = holdConfig(input({ desired: confOf(long) }));
  assert.deepEqual(reasons(withStatus({ heldConfig }), over), ['ConfigReleased']);
  assert.deepEqual(reasons(withStatus({ heldConfig }, { [annotation.forceConfig]: 't' }), over), [
    'ConfigForced',
  ]);
});

test('while a configuration is refused, a NodeSet waits for the jobs that its deletionPolicy gives up', () => {
  const jobs = [{ id: '8', active: false, partitions: ['long'], nodes: [], gres: [], array: false }];
  const leaving = (deletionPolicy: LeavingNodeSet['deletionPolicy']): LeavingNodeSet[] => [
    { name: 'long', setName: 'long', deletionPolicy, workers: 0 },
  ];
  const given = (policy: LeavingNodeSet['deletionPolicy'], slurm: SlurmWork) => {
    const refused = input({
      leaving: leaving(policy),
      evidence: { inForce: { text: confOf(long), owners: { long: 'long' } }, slurm },
    });
    const hold = holdConfig(refused);
    return { hold, refused: withReleasedJobs(hold, refused) };
  };
  for (const policy of ['CancelPending', 'Delete'] as const) {
    const { hold, refused } = given(policy, work({ jobs }));
    assert.equal(hold.waiting, undefined, 'an accepted configuration ends them');
    assert.equal(refused.text, hold.text);
    const [item] = refused.waiting?.items ?? [];
    assert.deepEqual([item?.kind, item?.nodeSet, item?.cause], ['Partition', 'long', 'jobs']);
    assert.match(
      item?.message ?? '',
      /1 pending job \(8\), which deletionPolicy .*scancel --partition=long"/,
    );
    const unknown = given(policy, { kind: 'unknown', why: 'no answer.' }).refused;
    assert.equal(unknown.waiting?.items.at(-1)?.cause, 'unknown');
    assert.equal(
      given(policy, work({ jobs: [] })).refused.waiting,
      undefined,
      'it has none: the NodeSet goes',
    );
  }
  const { hold, refused } = given('Drain', work({ jobs }));
  assert.deepEqual(refused, hold, 'the guard holds them itself');
});
