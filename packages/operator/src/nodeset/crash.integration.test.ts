/** Law L7: the operator dies after its k-th write, for every k; the one that follows ends where a run without the crash ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Life } from '../../testing/life.ts';
import { NodeSetStage } from '../../testing/nodeset-stage.ts';
import { nodeSets } from '../resources.ts';

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

/** Runs a scenario whose operator may die on the way; answers the end state and how many writes the change took. */
async function runScenario(
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
  // Whichever comes first: how many status writes a run takes depends on how its events fall together.
  const settled = scenario.settled(stage).then(() => true);
  const dead = stage
    .until('the operator is dead', () => life.over, 60_000)
    .then(
      () => false,
      () => true,
    );
  const alive = await (dieAfter === undefined ? settled : Promise.race([settled.catch(() => dead), dead]));
  if (!alive) {
    await stage.stopOperator();
    await stage.startOperator();
    await settled.catch(() => scenario.settled(stage));
  }
  return { state: await stage.endState(), writes: life.writes, died: !alive };
}

for (const scenario of scenarios) {
  test(`crash after every write of a ${scenario.name}`, { timeout: 300_000 }, async () => {
    const whole = await runScenario(scenario, undefined);
    assert.ok(whole.writes > 2, `${scenario.name} takes only ${whole.writes} writes: is anything happening?`);
    let crashes = 0;
    for (;;) {
      const run = await runScenario(scenario, crashes);
      if (!run.died) break; // it was done before its life was over: there is no later write to die behind
      assert.equal(run.writes, crashes, 'it died at the write it was to die at');
      assert.deepEqual(
        run.state,
        whole.state,
        `after a crash behind write ${crashes} of about ${whole.writes}`,
      );
      crashes += 1;
      assert.ok(crashes < 200, 'the operator never stops writing');
    }
    assert.ok(
      crashes >= scenario.atLeast,
      `only ${crashes} crashes were possible, ${scenario.atLeast} writes are needed for a ${scenario.name}`,
    );
    console.log(
      `    ${scenario.name}: ${crashes} crashes, one after each write (${whole.writes} in the run without), all end alike`,
    );
  });
}
