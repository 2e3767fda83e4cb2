/** A configuration that slurmctld rejects must not hold the deletion of a NodeSet indefinitely; and where it waits, it says for what. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { aController, aNodeSet, operatorDefaults, podFacts } from '../../../../testing/objects.ts';
import { now, observed } from '../../../../testing/observed.ts';
import { observedController, slurmWork } from '../../../../testing/observed-controller.ts';
import { nodeSetsAnnotation } from '../../../slurm-config/render/config-map.ts';
import { decideController } from '../../controller/plan/decide.ts';
import { desiredSlurmConf } from '../../controller/plan/render.ts';
import { controllerStatus } from '../../controller/status.ts';
import { planWorkers } from '../plan/plan-workers.ts';
import { nodeSetStatus } from '../status/status.ts';
import { configLines } from './config-lines.ts';

for (const partition of [false, true])
  test(`a NodeSet ${partition ? 'with' : 'without'} a partition is deleted while the Controller's extraConf is rejected`, () => {
    const controller = { ...aController({ extraConf: 'NoSuchKey=1' }), status: { configHash: 'old' } };
    const given = observedController({
      controller,
      leaving: [{ name: 'long', setName: 'long', deletionPolicy: 'CancelPending', workers: 0 }],
      pods: [podFacts({ ready: true, running: true })],
      withoutAccounting: true,
      slurmdbd: { image: undefined, updating: true },
    });
    const desired = desiredSlurmConf(given, operatorDefaults) ?? '';
    const lines = ['NodeSet=long Feature=long', ...(partition ? ['PartitionName=long Nodes=long'] : []), ''];
    const inForce = { text: desired.replace('NoSuchKey=1', '') + lines.join('\n'), owners: { long: 'long' } };
    const slurm = slurmWork({ partitions: new Map(partition ? [['long', true]] : []) });
    const input = { evidence: { inForce, slurm }, now };
    const first = decideController(given, operatorDefaults, input);
    assert.equal(first.decision.kind, 'try');
    const failed = {
      name: 'slurm-config-check',
      part: '',
      digest: first.configHash,
      uid: 'u',
      phase: 'Failed',
      result: { kind: 'refused' as const, by: 'slurmctld' as const, message: 'fatal: NoSuchKey' },
      message: undefined,
      createdAt: now,
      deletedAt: undefined,
      node: undefined,
      isLost: false,
    };
    const tried = { ...given, trials: [failed] };
    const decided = decideController(tried, operatorDefaults, input);
    assert.equal(decided.decision.kind, 'reject');
    const { fields, conditions: drafts } = controllerStatus(tried, decided, []);
    const conditions = drafts.map((one) => ({ ...one, lastTransitionTime: '2026-01-01T00:00:00Z' }));
    assert.ok(conditions.some(({ reason }) => reason === 'ConfigRejected'));
    const stored = { ...controller, status: { ...fields, conditions } };
    const map = { metadata: { annotations: { [nodeSetsAnnotation]: '{"long":"long"}' } } };
    const cache = { get: (kind: { plural?: string }) => (kind.plural === 'controllers' ? stored : map) };
    const nodeSet = aNodeSet({ replicas: 0 }, { name: 'long' });
    const found = configLines(cache as never, nodeSet);
    const view = observed([], [], { deleting: true, configLines: found });
    const done = planWorkers(view, now);
    const status = nodeSetStatus(view, done, undefined, now);
    const ready = status.conditions.find(({ type }) => type === conditionType.ready);
    assert.ok(
      done.actions.some(({ kind }) => kind === 'remove-finalizer'),
      `lines are ${found.state}; the NodeSet says: ${ready?.message}`,
    );
  });

const inForce = { metadata: { annotations: { [nodeSetsAnnotation]: '{"long":"long"}' } } };

function linesWith(reason: string, items: readonly object[], leaves = true, named = true) {
  const stored = {
    ...aController(),
    status: {
      conditions: [{ type: conditionType.configApplied, status: 'False', reason }],
      heldConfig: { items },
    },
  };
  const map = named ? inForce : { metadata: {} };
  const cache = { get: (kind: { plural?: string }) => (kind.plural === 'controllers' ? stored : map) };
  const nodeSet = aNodeSet({ replicas: 0 }, { name: 'long' });
  const leaving = {
    ...nodeSet,
    metadata: { ...nodeSet.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  return configLines(cache as never, leaves ? leaving : nodeSet);
}

test('jobs of its partition are waited for, also while the configuration is rejected', () => {
  const item = (cause: string) => ({
    kind: 'Partition',
    name: 'long',
    nodeSet: 'long',
    cause,
    message: cause,
  });
  for (const cause of ['jobs', 'unknown', 'workers'])
    assert.equal(linesWith('ConfigRejected', [item(cause)]).state, 'present', cause);
  assert.equal(linesWith('ConfigRejected', [item('closing')]).state, 'stuck');
  assert.equal(linesWith('ConfigHeld', [item('closing')]).state, 'present');
});

test('a deletion that waits for lines in slurm.conf says why', () => {
  const whole = { kind: 'Configuration', name: 'long-1', cause: 'jobs', message: 'Job 20 asks for long-1.' };
  const found = linesWith('ConfigHeld', [whole]);
  const view = observed([], [], { deleting: true, configLines: found });
  const { conditions } = nodeSetStatus(view, planWorkers(view, now), undefined, now);
  const message = conditions.find(({ type }) => type === conditionType.ready)?.message ?? '';
  assert.match(
    message,
    /condition ConfigApplied of Controller slurm, reason ConfigHeld\. Job 20 asks for long-1\.$/,
  );
  assert.doesNotMatch(message, /Nothing is left/);
  assert.deepEqual(linesWith('ConfigHeld', [whole], false).held, [], 'a NodeSet that stays is not concerned');
});

function statusWith(reason: string, items: readonly object[], deleting: boolean, named = true) {
  const found = linesWith(reason, items, deleting, named);
  const view = observed([], [], { deleting, configLines: found, partition: 'long' });
  const { conditions } = nodeSetStatus(view, planWorkers(view, now), undefined, now);
  const of = (type: string) => {
    const { status, reason: why, message } = conditions.find((one) => one.type === type) ?? {};
    return { status, reason: why, message: message ?? '' };
  };
  return { ready: of('Ready'), degraded: of('Degraded'), applied: of('ConfigApplied') };
}

test('while the configuration is rejected, a NodeSet that needs another one is Degraded and says so', () => {
  const pending = {
    kind: 'Partition',
    name: 'long',
    nodeSet: 'long',
    cause: 'jobs',
    message: 'Job 7 waits in it.',
  };
  const leaves = statusWith('ConfigRejected', [pending], true);
  for (const { reason, message } of [leaves.degraded, leaves.applied, leaves.ready])
    assert.match(
      `${reason}: ${message}`,
      /(ConfigRejected|Deleting): .*still contains this NodeSet: the new configuration of Controller slurm is rejected.*partition long accepts jobs: close it with "scontrol update partition=long state=drain".*Job 7 waits in it\.$/,
    );
  assert.deepEqual([leaves.degraded.status, leaves.applied.status], ['True', 'False']);

  const created = statusWith('ConfigRejected', [], false, false);
  assert.deepEqual(
    [created.degraded.status, created.degraded.reason, created.applied.status],
    ['True', 'ConfigRejected', 'False'],
  );
  assert.match(created.degraded.message, /does not contain this NodeSet yet/);

  const stays = statusWith('ConfigUntried', [], false);
  assert.deepEqual(
    [stays.degraded.status, stays.applied.status, stays.applied.reason],
    ['False', 'Unknown', 'ConfigUntried'],
    'its lines are there; whether they are the newest is not known',
  );
  const well = statusWith('ConfigHeld', [], false);
  assert.deepEqual([well.degraded.status, well.applied.status], ['False', 'True']);
});
