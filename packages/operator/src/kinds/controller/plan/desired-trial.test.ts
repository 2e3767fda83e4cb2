import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { aController, operatorDefaults } from '../../../../testing/objects.ts';
import { observedController, slurmWork } from '../../../../testing/observed-controller.ts';
import { digestOf } from '../../../objects/digest.ts';
import type { NodeWork, WorkJob } from '../../../slurm-config/guard/slurm-work.ts';
import type { Trial } from '../../../slurm-config/trial/trial.ts';
import type { TrialResult } from '../../../slurm-config/trial/trial-report.ts';
import type { ObservedController } from '../observe.ts';
import { controllerStatus } from '../status.ts';
import { decideController } from './decide.ts';

const job: WorkJob = { id: '7', active: true, partitions: ['all'], nodes: ['s1'], gres: [], array: false };
const node: NodeWork = { drained: false, byGuard: false, line: 'NodeName=s1' };
const slurm = slurmWork({
  jobs: [job],
  partitions: new Map([['all', true]]),
  nodes: new Map([['s1', node]]),
  nodeCount: 1,
  jobCount: 1,
});
const observed = (controller: ObservedController['controller'], trials: readonly Trial[]) =>
  observedController({ controller, trials, filesInForce: digestOf([]) });
const all = 'PartitionName=all Nodes=ALL';
const confOf = (extraConf: string) =>
  decideController(observed(aController({ extraConf }), []), operatorDefaults).config?.data?.['slurm.conf'] ??
  '';

/** The edit of extraConf from one text to another, with what may be put in force now in force already. */
function edit(from: string, to: string) {
  const evidence = { inForce: { text: confOf(from), owners: {} }, slurm };
  const planned = (configHash: string | undefined, trials: readonly Trial[]) => {
    const controller = { ...aController({ extraConf: to }), status: { configHash } };
    const seen = observed(controller, trials);
    const plan = decideController(seen, operatorDefaults, { evidence, now: 1_000 });
    const { conditions } = controllerStatus(seen, plan, []);
    return { ...plan, condition: conditions.find(({ type }) => type === conditionType.configApplied) };
  };
  const { configHash } = planned('before', []);
  return {
    before: planned('before', []),
    with: (...trials: readonly Trial[]) => planned(configHash, trials),
  };
}

const trial = (digest: string, result?: TrialResult): Trial => ({
  name: 'slurm-config-check',
  part: '',
  digest,
  uid: 'u',
  phase: result === undefined ? 'Running' : result.kind === 'passed' ? 'Succeeded' : 'Failed',
  result,
  message: undefined,
  createdAt: 500,
  deletedAt: undefined,
  node: 'node-1',
  isLost: false,
});
const refused: TrialResult = {
  kind: 'refused',
  by: 'slurmctld',
  message: 'fatal: Cannot find select plugin',
};
const passed: TrialResult = { kind: 'passed' };

test('a held setting is tried: a wrong value is ConfigRejected, not ConfigHeld', () => {
  const change = edit(all, `${all}\nSelectType=select/none_such`);
  assert.equal(change.before.desiredTrial, undefined, 'what may be put in force now is tried first');
  const tried = change.with();
  assert.equal(tried.condition?.reason, 'ConfigHeld');
  const { digest = '', decision } = tried.desiredTrial ?? {};
  assert.notEqual(digest, tried.configHash);
  assert.deepEqual(decision?.kind === 'try' && decision.start.map(({ id }) => id), ['']);
  const rejected = change.with(trial(digest, refused));
  assert.equal(rejected.condition?.reason, 'ConfigRejected');
  assert.match(rejected.condition?.message ?? '', /Cannot find select plugin/);
  assert.ok(!rejected.problems.some(({ reason }) => reason === 'ConfigHeld'));
});

test('the result is kept while the setting waits, so that it is in force at once when nothing needs the old one', () => {
  const linear = `${all}\nSelectType=select/linear`;
  const change = edit(all, linear);
  const { digest = '' } = change.with().desiredTrial ?? {};
  const held = change.with(trial(digest, passed), trial('older', passed));
  assert.equal(held.condition?.reason, 'ConfigHeld');
  assert.ok(held.decision.kind === 'enforce');
  assert.deepEqual(
    held.decision.cleanUp.map((one) => one.digest),
    ['older'],
  );
  const desired = decideController(
    observed(
      {
        ...aController({ extraConf: linear }),
        status: { configHash: held.configHash },
      },
      [trial(digest, passed)],
    ),
    operatorDefaults,
  );
  assert.deepEqual([desired.configHash, desired.decision.kind], [digest, 'enforce']);
});

test('a node is drained for a change of its line only when the daemons accept the change', () => {
  const change = edit(`${all}\nNodeName=s1 CPUs=4`, `${all}\nNodeName=s1 CPUs=2 Nonsense=1`);
  const { digest = '' } = change.with().desiredTrial ?? {};
  assert.deepEqual(change.before.nodes.close, []);
  assert.deepEqual(change.with().nodes.close, [], 'it is not tried yet');
  assert.deepEqual(change.with(trial(digest, refused)).nodes.close, []);
  assert.deepEqual(change.with(trial(digest, passed)).nodes.close, ['s1']);
});

test('a partition that is held needs no second trial', () => {
  const change = edit(all, '');
  assert.equal(change.with().condition?.reason, 'ConfigHeld');
  assert.equal(change.with().desiredTrial, undefined);
});
