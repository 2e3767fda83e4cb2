/** `make soak OPS=200 SEED=1`, `make soak FAULT=all` or `make soak CRASH=all`: the last line is JSON. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultNamed, plant, soakFaults } from '@slurm-operator/operator/testing';
import { runCrashSoak } from './soak/crash-soak.ts';
import { runSoak } from './soak/run-soak.ts';

const number = (name: string, otherwise: number) => {
  const text = process.env[name] ?? '';
  if (text !== '' && !/^\d+$/.test(text)) throw new Error(`${name}=${text} is not a whole number`);
  return text === '' ? otherwise : Number(text);
};
const seed = number('SEED', Date.now() % 1_000_000);
const began = Date.now();
const say = (line: string) =>
  console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(8)} s  ${line}`);
const crash = process.env['CRASH'] ?? '';
const fault = process.env['FAULT'] ?? '';

/** The first of these ends the stage in order, a second one the program at once. */
const interruption = new AbortController();
for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
  process.once(name, () => {
    say(`${name}: the stage is taken down; once more ends this at once`);
    process.exitCode = code;
    interruption.abort(new Error(`ended by ${name}`));
  });
const { signal } = interruption;

const options = {
  seed,
  nodes: number('NODES', 7),
  // Two may run beside each other.
  name: `soak-${process.pid}`,
  shortest: number('SHORTEST', 3),
  longest: number('LONGEST', 15),
  pause: number('PAUSE_MS', 5_000),
  lanes: number('LANES', 3),
  ...(process.env['MINUTES'] === undefined ? {} : { minutes: number('MINUTES', 0) }),
  say,
  signal,
};

async function soak(): Promise<boolean> {
  const result = await runSoak({ ...options, ops: number('OPS', 200) });
  console.log(JSON.stringify(result));
  const { jobs_lost: lost, jobs_requeued_by_operator: requeued, busy_percent: busy } = result;
  const touched = result.foreign_touched.length;
  return lost === 0 && requeued === 0 && touched === 0 && busy >= 50 && result.end_state_equal;
}

/** Each of these faults, put back into a copy of the operator, must be found. */
async function faults(): Promise<boolean> {
  const wanted = fault === 'all' ? soakFaults : fault.split(',').map(faultNamed);
  const found: Record<string, number | null> = {};
  for (const planted of wanted) {
    const directory = mkdtempSync(join(tmpdir(), 'soak-fault-'));
    try {
      say(`planted: ${planted.what}`);
      const program = join(plant(planted, directory), 'src/manager.ts');
      const result = await runSoak({
        ...options,
        ops: number('OPS', 200),
        program,
        aim: planted.aim ?? [],
        stopAtLoss: true,
      });
      const hurt = result.jobs_lost + result.jobs_requeued_by_operator + result.foreign_touched.length;
      found[planted.name] = hurt > 0 ? result.ops : null;
      say(`${planted.name}: ${hurt > 0 ? `found after ${result.ops} operations` : 'NOT FOUND'}`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  console.log(JSON.stringify({ seed, found_after_operations: found }));
  return Object.values(found).every((ops) => ops !== null);
}

async function crashes(): Promise<boolean> {
  const result = await runCrashSoak(crash, say, signal);
  console.log(JSON.stringify(result));
  return result.end_states_equal;
}

try {
  const run = crash !== '' ? crashes : fault !== '' ? faults : soak;
  process.exitCode = (await run()) ? 0 : 1;
} catch (error) {
  if (!signal.aborted) throw error;
  // What was under way when the stage went would go on trying to reach it.
  process.exit();
}
