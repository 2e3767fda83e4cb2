/** Law L7: the operator dies after its k-th write, for every k; the one that follows ends where a run without the crash ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Life } from '../../testing/life.ts';
import { NodeSetStage } from '../../testing/nodeset-stage.ts';
import { nodeSets } from '../resources.ts';

interface Scenario {
  readonly name: string;
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
    before: undefined,
    change: (stage) => stage.createNodeSet('w', spec),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'scale-in',
    before: { ...spec, replicas: 3 },
    change: (stage) => stage.patchNodeSet('w', { replicas: 1 }),
    settled: (stage) => stage.untilQuiet('w', 1),
  },
  {
    name: 'rollout',
    before: spec,
    change: (stage) => stage.patchNodeSet('w', { slurmd: { image: 'slurm-operator/slurmd:26.05-new' } }),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'mode switch',
    before: spec,
    change: (stage) => stage.patchNodeSet('w', { scalingMode: 'DaemonSet' }),
    settled: (stage) => stage.untilQuiet('w', 2),
  },
  {
    name: 'deletion',
    before: spec,
    change: async (stage) => void (await stage.client.delete(nodeSets, { namespace: 'slurm', name: 'w' })),
    settled: (stage) =>
      stage.until('the NodeSet is gone', async () => (await stage.nodeSet('w')) === undefined),
  },
];

/** Runs a scenario whose operator may die on the way; answers the end state and how many writes the change took. */
async function run(
  scenario: Scenario,
  dieAfter: number | undefined,
): Promise<{ state: unknown; writes: number; died: boolean }> {
  await using stage = await NodeSetStage.open(2);
  if (scenario.before !== undefined) {
    await stage.createNodeSet('w', scenario.before);
    await stage.startOperator();
    await stage.untilQuiet('w', (scenario.before as { replicas: number }).replicas);
    await stage.stopOperator();
  }
  const life = new Life(dieAfter);
  await stage.startOperator(life);
  await scenario.change(stage);
  if (dieAfter !== undefined) {
    await stage.until('the operator is dead', () => life.over);
    await stage.stopOperator();
    await stage.startOperator();
  }
  await scenario.settled(stage);
  const state = await stage.endState();
  return { state, writes: life.writes, died: life.over };
}

for (const scenario of scenarios) {
  test(`crash after every write of a ${scenario.name}`, { timeout: 300_000 }, async () => {
    const whole = await run(scenario, undefined);
    assert.ok(whole.writes > 2, `${scenario.name} takes only ${whole.writes} writes: is anything happening?`);
    let crashes = 0;
    for (let k = 0; k < whole.writes; k += 1) {
      const crashed = await run(scenario, k);
      assert.equal(crashed.writes, k);
      assert.deepEqual(crashed.state, whole.state, `after a crash behind write ${k} of ${whole.writes}`);
      crashes += 1;
    }
    console.log(
      `    ${scenario.name}: ${crashes} crashes, one after each of ${whole.writes} writes, all end as the run without`,
    );
  });
}
