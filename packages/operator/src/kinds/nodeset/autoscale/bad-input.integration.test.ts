/** Mistakes in `autoscale`, on the embedded API server with a fake Slurm: a sentence at admission, or a condition, and no pods that come and go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeSetStage } from '../../../../testing/nodeset-stage.ts';

const slurmd = { resources: { limits: { cpu: '4', memory: '4000Mi' } } };
const capacity = (over: object) => ({ max: 4, capacity: over });

const refused: readonly (readonly [string, object, RegExp])[] = [
  [
    'min over max',
    { max: 4, min: 5 },
    /autoscale\.min is larger than autoscale\.max: raise max or lower min/,
  ],
  ['spare over max', { max: 4, spare: 5 }, /autoscale\.spare is larger than autoscale\.max/],
  ['no max', { min: 1 }, /spec\.autoscale\.max: Required value/],
  ['max 0', { max: 0 }, /spec\.autoscale\.max.*greater than or equal to 1/],
  [
    'a time without a unit',
    { max: 4, idleAfter: '10' },
    /autoscale\.idleAfter must be a duration .* such as 10m/,
  ],
  [
    'a time that is too short',
    { max: 4, startWithin: '5s' },
    /autoscale\.startWithin must be a duration from 30s/,
  ],
  ['another word for wake', { max: 4, wake: 'Never' }, /spec\.autoscale\.wake.*"OnDemand", "Manual"/],
  ['no CPUs', { max: 4, shape: { cpus: 0 } }, /shape\.cpus.*greater than or equal to 1/],
  [
    'memory without a unit',
    { max: 4, shape: { memory: '900' } },
    /shape\.memory must be a whole quantity with a unit/,
  ],
  [
    'a line break in gres',
    { max: 4, shape: { gres: 'gpu:8\nSuspendTime=1' } },
    /shape\.gres must be a list as in slurm\.conf/,
  ],
  ['a wait of no time', capacity({ giveUpAfter: '1s' }), /capacity\.giveUpAfter must be a duration from 10s/],
  ['protection after none', capacity({ protectAfter: 0 }), /protectAfter.*greater than or equal to 1/],
];

test('what cannot be meant is refused with the field and what to do', async () => {
  await using stage = await NodeSetStage.open(1);
  for (const [what, autoscale, message] of refused)
    await assert.rejects(stage.createNodeSet('w', { slurmd, autoscale }), message, what);
  await assert.rejects(
    stage.createNodeSet('w', { slurmd, scalingMode: 'DaemonSet', autoscale: { max: 4 } }),
    /autoscale needs scalingMode StatefulSet: in DaemonSet mode the Kubernetes nodes determine the workers/,
  );
  await stage.createNodeSet('w', { slurmd, autoscale: { max: 4 } });
  await assert.rejects(stage.patchNodeSet('w', { autoscale: { min: 5 } }), /autoscale\.min is larger than/);
});

const conditionOf = async (stage: NodeSetStage, name: string, type: string) =>
  (await stage.nodeSet(name))?.status?.conditions?.find((condition) => condition.type === type);

test('a NodeSet whose names are those of another one says so, and creates nothing', async () => {
  await using stage = await NodeSetStage.open(3);
  const { slurm } = stage;
  const template = { spec: { hostname: 'n-' } };
  const autoscale = { max: 2, idleAfter: '1s' };
  await stage.startOperator();
  await stage.createNodeSet('first', { slurmd, template, autoscale });
  await stage.until('its nodes sleep', () => slurm.nodes.size === 2);
  await stage.createNodeSet('second', { slurmd, template, autoscale });
  await stage.until('the second one names the first', async () => {
    const { reason, message = '' } = (await conditionOf(stage, 'second', 'Ready')) ?? {};
    return reason === 'InvalidSpec' && /hostname: .*NodeSet "first".*choose another prefix/.test(message);
  });
  slurm.allocate('n-0');
  await stage.until('the first one works', async () => {
    const { awake } = (await stage.nodeSet('first'))?.status?.autoscale ?? {};
    return awake === 1;
  });
  assert.deepEqual(
    (await stage.pods()).map(({ metadata }) => metadata.name),
    ['first-0'],
  );
  assert.ok([...slurm.nodes.values()].every(({ comment }) => comment.includes('"nodeSetName":"first"')));
});

test('a size that no machine has: one pod, then the job is requeued with the reason', async () => {
  await using stage = await NodeSetStage.open(1, { schedules: () => false });
  const { slurm } = stage;
  const limits = { cpu: '960', memory: '4000Gi' };
  await stage.startOperator();
  await stage.createNodeSet('w', {
    slurmd: { resources: { limits } },
    autoscale: { max: 2, idleAfter: '1s', capacity: { giveUpAfter: '10s', retryAfter: '10m' } },
  });
  await stage.until('its nodes sleep', () => slurm.nodes.size === 2);
  slurm.allocate('w-0');
  await stage.until('it says why', async () => {
    const { reason, message = '' } = (await conditionOf(stage, 'w', 'Degraded')) ?? {};
    return reason === 'NoMachines' && /lower the requests of slurmd/.test(message);
  });
  assert.equal(stage.writes().filter((write) => write === 'create pods').length, 1);
  assert.deepEqual(await stage.pods(), []);
});

test('a size that is not known: no nodes, no pods, and what to set', async () => {
  await using stage = await NodeSetStage.open(1);
  await stage.startOperator();
  await stage.createNodeSet('w', { autoscale: { max: 2 } });
  await stage.until('it says so', async () => {
    const { reason, message = '' } = (await conditionOf(stage, 'w', 'Ready')) ?? {};
    return reason === 'ShapeUnknown' && /spec\.autoscale\.shape\.cpus/.test(message);
  });
  assert.equal(stage.slurm.nodes.size, 0);
  assert.deepEqual(await stage.pods(), []);
});
