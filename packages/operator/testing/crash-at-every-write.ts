/** Law L7: the operator crashes after its k-th write, for every k; the one that follows must end where a run without the crash ends. */
import assert from 'node:assert/strict';
import type { CrashScenario } from './crash-scenarios.ts';
import { Life } from './life.ts';
import type { NodeSetStage } from './nodeset-stage.ts';
import type { StagedSlurm } from './staged-slurm.ts';

interface Outcome {
  readonly state: unknown;
  /** Writes of the operator that did the change, until it was done or dead. */
  readonly writes: readonly string[];
  readonly crashed: boolean;
}

export interface CrashOptions {
  /** An empty stage in lockstep with two machines. */
  readonly open: () => Promise<NodeSetStage<StagedSlurm>>;
  /** Called with a line about every run. */
  readonly say?: (line: string) => void;
  /** The writes behind which a run of so many is made to crash. @default all of them */
  readonly choose?: (writes: number) => readonly number[];
}

export interface Crashes {
  /** Writes of the run without a crash. */
  readonly writes: number;
  /** Behind how many of them another run crashed. */
  readonly tried: readonly number[];
}

/** Throws where the end of a run with a crash differs from the one without. */
export async function crashAtEveryWrite(scenario: CrashScenario, options: CrashOptions): Promise<Crashes> {
  const { name, atLeast } = scenario;
  const say = options.say ?? (() => {});
  const whole = await runScenario(scenario, new Life(), options);
  const { length } = whole.writes;
  say(`${name}: ${length} writes without a crash: ${whole.writes.join(', ')}`);
  assert.ok(
    length >= atLeast,
    `${name} takes only ${length} writes, ${atLeast} are needed: is anything happening?`,
  );
  const tried = options.choose?.(length) ?? Array.from({ length }, (_, k) => k);
  for (const k of tried) {
    const run = await runScenario(scenario, new Life(k), options);
    assert.ok(
      run.crashed,
      `a run ended with ${run.writes.length} writes, the one without a crash makes ${length}`,
    );
    assert.equal(run.writes.length, k, 'it crashed at the planned write');
    assert.deepEqual(run.state, whole.state, `after a crash behind write ${k} of ${length}`);
    say(
      `${name}: killed behind write ${k} of ${length}${k === 0 ? '' : ` (${run.writes.at(-1)})`}, same end`,
    );
  }
  return { writes: length, tried };
}

/** Runs a scenario whose operator may crash, and its successor if it does. */
async function runScenario(scenario: CrashScenario, life: Life, { open }: CrashOptions): Promise<Outcome> {
  await using stage = await open();
  if (scenario.before !== undefined) {
    await stage.createNodeSet('w', scenario.before);
    await stage.startOperator();
    assert.equal(await stage.runInLockstep(), 'rest');
    await stage.stopOperator();
  }
  const written = () => stage.writes().filter((what) => !what.endsWith(' events'));
  const earlier = written().length;
  await scenario.change(stage);
  await stage.startOperator(life);
  const crashed = (await stage.runInLockstep()) === 'dead';
  const told = written().slice(earlier).values();
  const writes = life.writes.map((what) => (what === 'kubernetes' ? (told.next().value ?? what) : what));
  if (crashed) {
    await stage.stopOperator();
    await stage.startOperator();
    assert.equal(await stage.runInLockstep(), 'rest');
  }
  await scenario.settled(stage);
  return { state: await stage.endState(), writes, crashed };
}
