/**
 * Law L7: the operator dies after its k-th write; the one that follows ends where a run without the crash ends. By default k is
 * the first, the last and every third write, `CRASH=every` tries them all.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Life } from '../../testing/life.ts';
import { NodeSetStage } from '../../testing/nodeset-stage.ts';
import { nodeSets } from '../cache/resources.ts';

interface Scenario {
  readonly name: string;
  /** Writes without which it cannot be done. */
  readonly atLeast: number;
  readonly before: object | undefined;
  readonly change: (stage: NodeSetStage) => Promise<void>;
  readonly settled: (stage: NodeSetStage) => Promise<void>;
}

const claims = [
  {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
];
const spec = {
  replicas: 2,
  volumeClaimTemplates: claims,
  persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
};

const scenarios: Scenario[] = [
  {
    name: 'scale-out',
    atLeast: 8,
    before: undefined,
    change: (stage) => stage.createNodeSet('w', spec),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'scale-in',
    atLeast: 8,
    before: { ...spec, replicas: 3 },
    change: (stage) => stage.patchNodeSet('w', { replicas: 1 }),
    settled: async (stage) => {
      await stage.untilQuiet('w', 1);
      await stage.until('the claims of the others are gone', async () => (await stage.claims()).length === 1);
    },
  },
  {
    name: 'rollout',
    atLeast: 10,
    before: spec,
    change: (stage) => stage.patchNodeSet('w', { slurmd: { image: 'slurm-operator/slurmd:26.05-new' } }),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'mode switch',
    atLeast: 10,
    before: spec,
    change: (stage) => stage.patchNodeSet('w', { scalingMode: 'DaemonSet' }),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'deletion',
    atLeast: 8,
    before: spec,
    change: async (stage) => void (await stage.client.delete(nodeSets, { namespace: 'slurm', name: 'w' })),
    settled: (stage) =>
      stage.until('the NodeSet is gone', async () => (await stage.nodeSet('w')) === undefined),
  },
];

interface Outcome {
  readonly state: unknown;
  /** Writes of the operator that did the change, until it was done or dead. */
  readonly writes: number;
  readonly died: boolean;
}

/** Runs a scenario whose operator may die on the way, and its successor where it does. */
async function runScenario(scenario: Scenario, life: Life): Promise<Outcome> {
  await using stage = await NodeSetStage.open(2, { lockstep: true });
  if (scenario.before !== undefined) {
    await stage.createNodeSet('w', scenario.before);
    await stage.startOperator();
    assert.equal(await stage.runInLockstep(), 'rest');
    await stage.stopOperator();
  }
  await scenario.change(stage);
  await stage.startOperator(life);
  const died = (await stage.runInLockstep()) === 'dead';
  if (died) {
    await stage.stopOperator();
    await stage.startOperator();
    assert.equal(await stage.runInLockstep(), 'rest');
  }
  await scenario.settled(stage);
  return { state: await stage.endState(), writes: life.writes, died };
}

const every = process.env['CRASH'] === 'every';

/** The writes behind which a run of so many writes is made to crash. */
function crashes(writes: number): number[] {
  const all = Array.from({ length: writes }, (_, write) => write);
  return every ? all : all.filter((write) => write % 3 === 0 || write === writes - 1);
}

for (const scenario of scenarios) {
  test(`crash after ${every ? 'every write' : 'the first, the last and every third write'} of a ${scenario.name}`, {
    timeout: 900_000,
  }, async () => {
    const whole = await runScenario(scenario, new Life());
    assert.ok(
      whole.writes >= scenario.atLeast,
      `${scenario.name} takes only ${whole.writes} writes, ${scenario.atLeast} are needed: is anything happening?`,
    );
    const tried = crashes(whole.writes);
    for (const writes of tried) {
      const run = await runScenario(scenario, new Life(writes));
      assert.ok(
        run.died,
        `a run ended with ${run.writes} writes, the one without a crash makes ${whole.writes}`,
      );
      assert.equal(run.writes, writes, 'it died at the write it was to die at');
      assert.deepEqual(run.state, whole.state, `after a crash behind write ${writes} of ${whole.writes}`);
    }
    console.log(
      `    ${scenario.name}: a crash behind ${tried.length} of ${whole.writes} writes (${tried.join(', ')}), all end alike`,
    );
  });
}
