/** The same calls to real Slurm and to its simulator, one by one: status, error numbers and the shape of answers must agree. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiVersion } from '../../src/connection/api-version.ts';
import { realSubject, type Subject, simulatedSubject } from '../contract/subject.ts';
import { eventually, type WireAnswer, wire } from '../contract/wire.ts';
import { startMiniSlurm } from '../mini-slurm.ts';
import { versionsOf } from './routes.ts';
import { startSimulator } from './simulator.ts';

const job = { environment: ['PATH=/usr/bin:/bin'], current_working_directory: '/tmp' };
const script = '#!/bin/sh\nsleep 60\n';

/** What both must have come to before the next call: a node that was undrained does not respond for a moment. */
type Milestone = 'nodes idle' | 'job 3 runs' | 'nodes respond';

/** In this order, on a fresh cluster with n0 and n1. */
const calls: readonly (readonly [call: string, body?: unknown] | Milestone)[] = [
  ['GET slurm/ping/'],
  ['GET slurm/diag/'],
  ['GET slurm/licenses/'],
  ['GET slurm/nodes/'],
  ['GET slurm/node/n0'],
  ['GET slurm/node/nope'],
  ['GET slurm/partitions/'],
  ['GET slurm/partition/all'],
  ['GET slurm/partition/nope'],
  ['GET slurm/reservations/'],
  ['GET slurm/reservation/nope'],
  ['GET slurm/jobs/'],
  ['GET slurm/jobs/state/'],
  ['GET slurm/jobs/state/?job_id=999'],
  ['GET slurm/jobs/state/?job_id=abc'],
  ['GET slurm/job/999'],
  ['GET slurm/nosuchthing'],
  ['POST slurm/node/n0', { comment: 'c' }],
  ['POST slurm/node/n0', { features: ['mini', 'x'] }],
  ['POST slurm/node/n0', { features: ['y'], comment: 'd' }],
  ['POST slurm/node/n0', { state: ['DRAIN'], reason: 'r' }],
  ['POST slurm/node/n0', { state: ['UNDRAIN'] }],
  ['POST slurm/node/n0', { state: ['RESUME'] }],
  ['POST slurm/node/n0', { state: ['BOGUS'] }],
  ['POST slurm/node/nope', { state: ['DRAIN'], reason: 'r' }],
  ['POST slurm/nodes/', { name: ['n[0-1]'], state: ['DRAIN'], reason: 'r' }],
  ['POST slurm/nodes/', { name: ['n0,nope'], state: ['UNDRAIN'] }],
  ['POST slurm/nodes/', { name: ['n[0-1]'], state: ['UNDRAIN'] }],
  ['DELETE slurm/node/nope'],
  'nodes idle',
  ['POST slurm/job/submit', { job }],
  ['POST slurm/job/submit', { script, job: { ...job, partition: 'nope' } }],
  ['POST slurm/job/submit', { script, job: { current_working_directory: '/tmp' } }],
  ['POST slurm/job/submit', { script, job: { ...job, time_limit: '00:10:00' } }],
  ['POST slurm/job/submit', { script, job: { ...job, hold: true } }],
  [
    'POST slurm/job/submit',
    { script, job: { ...job, required_nodes: ['n1'], time_limit: { set: true, number: 5 } } },
  ],
  'job 3 runs',
  ['GET slurm/jobs/'],
  ['GET slurm/job/2'],
  ['GET slurm/job/3'],
  ['DELETE slurm/node/n1'],
  ['POST slurm/job/2', { comment: 'x' }],
  ['POST slurm/job/2', { time_limit: '1:00' }],
  ['POST slurm/job/999', { comment: 'x' }],
  ['DELETE slurm/job/2?signal=USR1'],
  ['DELETE slurm/job/2'],
  ['DELETE slurm/job/2'],
  ['DELETE slurm/job/999'],
  ['GET slurm/job/3/requeue'],
  ['DELETE slurm/job/3'],
  ['GET slurm/job/999/requeue'],
  ['POST slurm/partitions/', { partitions: [{ name: 'blue', nodes: { configured: 'ALL' } }] }],
  ['DELETE slurm/partition/blue'],
  ['DELETE slurm/partition/blue'],
  ['DELETE slurm/reservation/nope'],
  ['GET slurm/reconfigure/'],
  'nodes respond',
  ['GET slurmdb/ping/'],
  ['GET slurmdb/accounts/'],
  ['GET slurmdb/users/'],
  ['GET slurmdb/associations/'],
  ['GET slurmdb/qos/'],
  ['GET slurmdb/clusters/'],
  ['GET slurmdb/tres/'],
  ['GET slurmdb/job/999'],
  ['POST slurmdb/accounts/', { accounts: [{ name: 'lab', description: 'd', organization: 'o' }] }],
  [
    'POST slurmdb/users_association/',
    {
      association_condition: { users: ['alice'], accounts: ['root'], clusters: ['mini'], association: {} },
      user: {},
    },
  ],
  ['POST slurmdb/qos/', { qos: [{ name: 'fast', description: 'f' }] }],
  ['DELETE slurmdb/qos/fast'],
  ['DELETE slurmdb/qos/fast'],
  ['DELETE slurmdb/user/alice'],
  ['DELETE slurmdb/user/alice'],
  ['DELETE slurmdb/account/lab'],
  ['DELETE slurmdb/account/lab'],
];

/** The parts of a response that a client depends on: everything but the texts. */
function shape(answer: WireAnswer): Record<string, unknown> {
  const lists = ['nodes', 'partitions', 'reservations', 'pings', 'licenses'];
  const elements = lists.flatMap((list) => {
    const value = answer.body[list];
    return Array.isArray(value) && typeof value[0] === 'object'
      ? [[list, Object.keys(value[0] as object).toSorted()]]
      : [];
  });
  return {
    status: answer.status,
    type: answer.type.split(';')[0],
    close: answer.connection.toLowerCase() === 'close',
    error: answer.body.errors?.[0]?.error_number,
    warned: (answer.body.warnings ?? []).length > 0,
    failed: (answer.body['status'] as { error?: { code?: number } }[] | undefined)?.[0]?.error?.code,
    lists: Object.fromEntries(elements),
  };
}

async function reach(milestone: Milestone, subject: Subject, version: ApiVersion): Promise<void> {
  await eventually(async () => {
    if (milestone === 'job 3 runs') {
      const { body } = await wire(subject, 'GET slurm/job/3', { version });
      const [found] = (body['jobs'] ?? []) as { job_state?: string[] }[];
      assert.deepEqual(found?.job_state, ['RUNNING']);
      return;
    }
    const { body } = await wire(subject, 'GET slurm/nodes/', { version });
    const nodes = (body['nodes'] ?? []) as { state: string[] }[];
    assert.equal(nodes.length, 2, 'slurmctld answers');
    for (const node of nodes) {
      assert.ok(!node.state.includes('NOT_RESPONDING'), node.state.join('+'));
      if (milestone === 'nodes idle')
        assert.ok(node.state.includes('IDLE') && !node.state.includes('DRAIN'), node.state.join('+'));
    }
  });
}

for (const release of ['26.05', '24.11'] as const) {
  for (const version of versionsOf[release]) {
    test(`Slurm ${release}, ${version}`, async () => {
      await using mini = await startMiniSlurm({ version: release, nodes: 2, accounting: true });
      await using simulator = await startSimulator({ release, nodes: 'n[0-1]' });
      const [real, simulated] = [realSubject(mini), simulatedSubject(simulator)];
      const drift: string[] = [];
      for (const step of calls) {
        if (typeof step === 'string') {
          await Promise.all([reach(step, real, version), reach(step, simulated, version)]);
          continue;
        }
        const [call, body] = step;
        const [wanted, got] = await Promise.all([
          wire(real, call, { version, body }),
          wire(simulated, call, { version, body }),
        ]);
        const [a, b] = [JSON.stringify(shape(wanted)), JSON.stringify(shape(got))];
        if (a !== b)
          drift.push(
            `${call} ${JSON.stringify(body ?? '')}\n  real      ${a}\n  simulated ${b}\n  ${wanted.text.slice(0, 300)}`,
          );
      }
      assert.deepEqual(drift, [], drift.join('\n'));
    });
  }
}
