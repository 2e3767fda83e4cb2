/**
 * `make soak CRASH=all`: the operator is killed behind every single write of a scale-out, a scale-in, a rollout, a mode switch and
 * a deletion, with a real Slurm beside it: slurmctld, slurmrestd, and one slurmd for every pod that runs.
 */
import type { SlurmVersion } from '@slurm-operator/images';
import {
  type CrashScenario,
  crashAtEveryWrite,
  crashScenarios,
  NodeSetStage,
  RealSlurm,
} from '@slurm-operator/operator/testing';
import { wantedSlurm } from '../wanted-slurm.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface CrashResult {
  readonly slurm: string;
  /** Writes per scenario: there was a crash behind each of them. */
  readonly crashes: Readonly<Record<string, number>>;
  readonly end_states_equal: boolean;
  readonly failed: readonly string[];
}

export async function runCrashSoak(
  wanted: string,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<CrashResult> {
  const scenarios = chosen(wanted);
  const version = wantedSlurm();
  say(`a real Slurm ${version}`);
  await using slurm = await RealSlurm.start(version);
  return await unlessAborted(crashAll({ scenarios, slurm, version, say }), signal);
}

async function crashAll({
  scenarios,
  slurm,
  version,
  say,
}: {
  readonly scenarios: readonly CrashScenario[];
  readonly slurm: RealSlurm;
  readonly version: SlurmVersion;
  readonly say: (line: string) => void;
}): Promise<CrashResult> {
  const open = async () => {
    await slurm.clear();
    return NodeSetStage.open(2, {
      lockstep: true,
      image: `slurm-operator/slurmd:${version}`,
      slurm: (changed) => {
        slurm.onChange(changed);
        return slurm;
      },
    });
  };
  const crashes: Record<string, number> = {};
  const failed: string[] = [];
  for (const scenario of scenarios) {
    try {
      crashes[scenario.name] = (await crashAtEveryWrite(scenario, { open, say })).tried.length;
    } catch (error) {
      failed.push(scenario.name);
      say(`${scenario.name} FAILED: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  say('');
  say('scenario      killed behind each of so many writes');
  for (const { name } of scenarios) say(`${name.padEnd(14)}${crashes[name] ?? 'failed'}`);
  return { slurm: version, crashes, end_states_equal: failed.length === 0, failed };
}

function chosen(wanted: string): readonly CrashScenario[] {
  if (wanted === 'all') return crashScenarios;
  return wanted.split(',').map((name) => {
    const found = crashScenarios.find((scenario) => scenario.name === name.trim());
    if (found === undefined)
      throw new Error(
        `CRASH=${wanted}: choose all, or some of ${crashScenarios.map((one) => one.name).join(',')}`,
      );
    return found;
  });
}
