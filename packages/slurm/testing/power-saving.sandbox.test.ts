/** Facts of power saving that autoscaling relies on, on both releases. Each was seen before code relied on it; see decision 12. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refused } from '../src/errors.ts';
import { formatNodeState } from '../src/meaning/node-state.ts';
import { eventually } from './contract/wire.ts';
import { type MiniSlurm, startMiniSlurm } from './mini-slurm.ts';

const configuration = [
  'ResumeProgram=/bin/true',
  'SuspendProgram=/bin/true',
  'SuspendTime=315360000',
  'SuspendTimeout=600',
  'ResumeTimeout=300',
  'ResumeRate=0',
  'SuspendRate=0',
  'SlurmctldParameters=enable_configless,power_save_interval=1',
];
const shape = 'CPUs=4 RealMemory=4000 Feature=gpu';

for (const version of ['26.05', '24.11'] as const)
  test(`Slurm ${version}: a sleeping record wakes for a job, stops without losing one, and is offered again`, async () => {
    await using mini = await startMiniSlurm({ version, nodes: 0, configuration });
    const client = mini.client();
    const state = async (name: string) => {
      const node = (await client.nodes.list()).items.find((one) => one.name === name);
      return node === undefined ? 'absent' : formatNodeState(node.state);
    };
    const shows = (name: string, pattern: RegExp) =>
      eventually(async () => assert.match(await state(name), pattern), 120_000);
    const submit = (node: string) =>
      client.jobs.submit({ script: '#!/bin/sh\nsleep 1\n', requiredNodes: [node], timeLimit: 5 });
    const completed = (id: number) =>
      eventually(async () => {
        const job = await client.jobs.get(id);
        assert.deepEqual([job?.state, job?.restarts], [['COMPLETED'], 0]);
      }, 180_000);

    await create(mini, 'gpu-[0-1]');
    assert.match(await state('gpu-1'), /^IDLE\+CLOUD\+POWERED_DOWN/);
    if (version === '26.05') await assert.rejects(create(mini, 'gpu-[1-2]'), Refused);
    assert.equal(await state('gpu-2'), 'absent', 'a range with a name that exists is refused as a whole');
    await client.nodes.update(['gpu-0', 'gpu-1'], { comment: 'kept' });

    // A job powers it up; a slurmd of a dynamic node (-Z -b) is accepted under the name of the record.
    const first = await submit('gpu-0');
    await shows('gpu-0', /^MIXED.*POWERING_UP/);
    await mini.addNode('gpu-0', shape);
    await completed(first.id);
    assert.equal(await state('gpu-1'), 'IDLE+CLOUD+POWERED_DOWN+DYNAMIC_NORM');

    // From the moment that POWER_DOWN is accepted no job is allocated there; a slurmd that starts again is ignored.
    await client.nodes.update('gpu-0', { state: 'POWER_DOWN' });
    const second = await submit('gpu-0');
    await shows('gpu-0', /^IDLE.*POWERING_DOWN/);
    await mini.nodes.get('gpu-0')?.restart(1000);
    assert.match(await state('gpu-0'), /^IDLE.*POWERING_DOWN/);
    assert.deepEqual((await client.jobs.get(second.id))?.state, ['PENDING']);

    // RESUME ends the power-down at once; then the job that waited powers it up again, and runs once.
    await mini.removeNode('gpu-0');
    await client.nodes.update('gpu-0', { state: 'RESUME' });
    await shows('gpu-0', /^MIXED.*POWERING_UP/);
    await mini.addNode('gpu-0', shape);
    await completed(second.id);

    // A power-down ends the drain of a person; RESUME ends a drain of a sleeping node and leaves it asleep.
    await client.nodes.drain('gpu-0', 'broken fan');
    await client.nodes.update('gpu-0', { state: 'POWER_DOWN' });
    await shows('gpu-0', /POWERING_DOWN/);
    assert.doesNotMatch(await state('gpu-0'), /DRAIN/);
    await client.nodes.drain('gpu-1', 'test');
    await client.nodes.update('gpu-1', { state: 'RESUME' });
    assert.match(await state('gpu-1'), /POWERED_DOWN/);
    assert.doesNotMatch(await state('gpu-1'), /DRAIN/);
    await assert.rejects(client.nodes.update('gpu-1', { state: 'RESUME' }), Refused);
    const kept = (await client.nodes.list()).items.map(({ comment }) => comment);
    assert.deepEqual(kept, ['kept', 'kept']);
  });

test('surprise: a NodeName line with the name of a dynamic node that runs ends its slurmd', async () => {
  await using mini = await startMiniSlurm({ version: '26.05', nodes: 1, configuration });
  await mini.configure([...configuration, `NodeName=n[0-1] ${shape} State=CLOUD`]);
  const slurmd = mini.nodes.get('n0');
  await eventually(() => assert.equal(slurmd?.running, false));
  assert.match(slurmd?.logTail() ?? '', /Duplicated NodeName n0 in the config file/);
});

/** Over REST from 25.11 on, before only with scontrol. */
async function create(mini: MiniSlurm, names: string): Promise<void> {
  if (mini.version === '24.11')
    await mini.run('scontrol', 'create', `NodeName=${names}`, ...shape.split(' '), 'State=CLOUD');
  else await mini.client().nodes.create(`NodeName=${names} ${shape} State=CLOUD`);
}
