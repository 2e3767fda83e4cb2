/** What an autoscaled NodeSet that cannot work says in its conditions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscaled, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Autoscale } from '../model/autoscale.ts';
import type { Observed, SlurmNode, Worker } from '../model/observed.ts';
import { planWorkers } from '../plan/plan-workers.ts';
import { nodeSetStatus } from '../status/status.ts';

const settings = autoscaled({ max: 1, shapeSource: 'Spec' });
const asleep = (over: Partial<SlurmNode> = {}) =>
  slurmNode(0, { flags: new Set(['CLOUD', 'POWERED_DOWN']), slurmdStartedAt: undefined, ...over });

function condition(
  type: 'Ready' | 'Degraded',
  node: SlurmNode,
  {
    workers = [],
    autoscale,
    ...over
  }: Partial<Omit<Observed, 'autoscale'>> & {
    workers?: readonly Worker[];
    autoscale?: Partial<Autoscale>;
  } = {},
) {
  const given = observed([...workers], [node], { autoscale: { ...settings, ...autoscale }, ...over });
  const { conditions } = nodeSetStatus(given, planWorkers(given, now), undefined, now);
  const { reason, message } = conditions.find((one) => one.type === type) ?? {};
  return { reason, message };
}

test('nodes that sleep in no partition: names them, and says what to set', () => {
  assert.deepEqual(condition('Ready', asleep({ inNoPartition: true })), {
    reason: 'NoPartition',
    message:
      'No partition contains the Slurm nodes w-0, so no job can wake them. Set spec.partition.enabled, or name the NodeSet in Nodes= of a partition in extraConf of Controller slurm.',
  });
  const enabled = condition('Ready', asleep({ inNoPartition: true }), {
    partition: 'w',
    configLines: { state: 'present', held: [] },
  });
  assert.equal(enabled.reason, 'Reconfiguring');
  assert.equal(condition('Ready', asleep()).reason, 'ScaledToZero');
});

test('a size that is unknown, and a release that cannot create nodes', () => {
  assert.equal(condition('Ready', asleep(), { autoscale: { shape: undefined } }).reason, 'ShapeUnknown');
  const { reason, message } = condition('Ready', asleep(), { autoscale: { unsupported: 'it is too old' } });
  assert.equal(reason, 'AutoscaleUnsupported');
  assert.match(message ?? '', /it is too old.*Upgrade Slurm, or remove spec\.autoscale\./);
});

test('a worker that is smaller than its record: both sizes, and what to correct', () => {
  const small = slurmNode(0, {
    flags: new Set(['CLOUD', 'INVALID_REG', 'DRAIN']),
    reason: 'Low RealMemory (reported:2000 < 100.00% of configured:4000)',
  });
  const { reason, message } = condition('Degraded', small, { workers: [worker(0)] });
  assert.equal(reason, 'ShapeMismatch');
  assert.match(
    message ?? '',
    /4000 MiB of memory.*\(from Spec\).*reported:2000.*Correct spec\.autoscale\.shape/,
  );
});
