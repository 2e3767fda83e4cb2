/** Drains on both sides: Node conditions reach Slurm, and a drain in Slurm by anyone reaches the pod and its Node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events, nodes, timestamp } from '@slurm-operator/kube';
import { NodeSetStage } from '../../../testing/nodeset-stage.ts';

const rules = [{ type: 'GpuBroken', status: 'True', drainAfterMs: 1_000 }] as const;

async function running() {
  const stage = await NodeSetStage.open(2);
  stage.propagatedConditions = rules;
  await stage.createNodeSet('gpu', { scalingMode: 'DaemonSet' });
  await stage.startOperator();
  await stage.untilReady('gpu', 2);
  return stage;
}

/** The pod of a Slurm node, which has the name of its machine. */
const podOf = async (stage: NodeSetStage, machine: string) =>
  (await stage.pods()).find((pod) => pod.spec?.nodeName === machine);
const conditionsOf = async (stage: NodeSetStage, machine: string) =>
  (await podOf(stage, machine))?.status?.conditions ?? [];
const isSafe = async (stage: NodeSetStage, name: string) =>
  (await conditionsOf(stage, name)).some(({ type, status }) => type === 'SafeToDelete' && status === 'True');
const reasonOf = (stage: NodeSetStage, name: string) => {
  const node = stage.slurm.nodes.get(name);
  return node?.state.flags.has('DRAIN') === true ? node.reason : undefined;
};

/** A condition of a Node, as a health checker writes it. */
async function setCondition(stage: NodeSetStage, node: string, type: string, status: string, since: number) {
  const condition = { type, status, reason: 'Xid', message: '79', lastTransitionTime: timestamp(since) };
  const patch = { type: 'strategic', body: { status: { conditions: [condition] } } } as const;
  await stage.client.patch(nodes, { name: node }, patch, { subresource: 'status' });
}

/** `kind name reason` of each event about drains. */
async function told(stage: NodeSetStage): Promise<string[]> {
  const { items } = await stage.client.list(events, {});
  return items
    .filter(({ reason }) => reason?.startsWith('SlurmNode') === true)
    .map(({ regarding, reason }) => `${regarding?.kind} ${regarding?.name} ${reason}`);
}

test('a Node condition drains the Slurm node after its time; SafeToDelete waits for the job, and all of it ends with the condition', async () => {
  await using stage = await running();
  const pod = (await podOf(stage, 'machine-0'))?.metadata.name;
  stage.slurm.occupy('machine-0', true);
  await setCondition(stage, 'machine-0', 'GpuBroken', 'True', Date.now());
  await stage.until('the drain', () => reasonOf(stage, 'machine-0') !== undefined);
  assert.equal(reasonOf(stage, 'machine-0'), 'slurm-operator: Node condition GpuBroken: (Xid: 79)');
  assert.equal(reasonOf(stage, 'machine-1'), undefined, 'the other Node has no such condition');
  await stage.until('the pod shows it', async () =>
    (await conditionsOf(stage, 'machine-0')).some(({ type }) => type === 'SlurmNodeStateDrain'),
  );
  assert.equal(await isSafe(stage, 'machine-0'), false, 'a job runs there');
  stage.slurm.occupy('machine-0', false);
  await stage.until('it is safe to delete', () => isSafe(stage, 'machine-0'));
  await stage.until('the events', async () => {
    const all = await told(stage);
    return [`Pod ${pod} SlurmNodeDrain`, 'Node machine-0 SlurmNodeDrain'].every((one) => all.includes(one));
  });

  // Unknown is not well: the drain stays.
  await setCondition(stage, 'machine-0', 'GpuBroken', 'Unknown', Date.now());
  await setCondition(stage, 'machine-1', 'GpuBroken', 'True', Date.now() - 60_000);
  await stage.until('the other drain', () => reasonOf(stage, 'machine-1') !== undefined);
  assert.notEqual(reasonOf(stage, 'machine-0'), undefined);

  await setCondition(stage, 'machine-0', 'GpuBroken', 'False', Date.now());
  await stage.until('the end of the drain', () => reasonOf(stage, 'machine-0') === undefined);
  assert.equal(await isSafe(stage, 'machine-0'), false, 'it was withdrawn before');
  await stage.until('its events', async () => {
    const all = await told(stage);
    return [`Pod ${pod} SlurmNodeUndrain`, 'Node machine-0 SlurmNodeUndrain'].every((one) =>
      all.includes(one),
    );
  });
  assert.equal((await stage.pods()).length, 2, 'no pod was replaced');
});

test('a drain by someone else is shown, and never touched: not by a condition, and not at its end', async () => {
  await using stage = await running();
  const pod = (await podOf(stage, 'machine-0'))?.metadata.name;
  await stage.slurm.updateNode('machine-0', { state: 'DRAIN', reason: 'bad disk' });
  await stage.until('it is safe to delete', () => isSafe(stage, 'machine-0'));
  await stage.until('the events', async () => {
    const all = await told(stage);
    return [`Pod ${pod}`, 'Node machine-0'].every((one) => all.includes(`${one} SlurmNodeDrainedByOthers`));
  });
  const asked = stage.slurm.asked.length;
  await setCondition(stage, 'machine-0', 'GpuBroken', 'True', Date.now() - 60_000);
  await setCondition(stage, 'machine-1', 'GpuBroken', 'True', Date.now() - 60_000);
  await stage.until('the drain of the other node', () => reasonOf(stage, 'machine-1') !== undefined);
  for (const one of ['machine-0', 'machine-1'])
    await setCondition(stage, one, 'GpuBroken', 'False', Date.now());
  await stage.until('its end', () => reasonOf(stage, 'machine-1') === undefined);
  assert.equal(reasonOf(stage, 'machine-0'), 'bad disk');
  assert.deepEqual(
    stage.slurm.asked.slice(asked).filter((one) => one.includes('machine-0') && /DRAIN|UNDRAIN/.test(one)),
    [],
  );

  stage.slurm.setReachable(false);
  await stage.until('unknown is not safe', async () => !(await isSafe(stage, 'machine-0')));
  assert.ok((await conditionsOf(stage, 'machine-0')).some(({ type }) => type === 'SlurmNodeStateDrain'));
});
