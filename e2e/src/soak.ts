/** `make soak OPS=200 SEED=1`, or `make soak CRASH=all`: the last line is JSON. */
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

/** The first of these ends the stage in order, a second one the program at once. */
const interruption = new AbortController();
for (const [name, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 }))
  process.once(name, () => {
    say(`${name}: the stage is taken down; once more ends this at once`);
    process.exitCode = code;
    interruption.abort(new Error(`ended by ${name}`));
  });
const { signal } = interruption;

async function soak(): Promise<boolean> {
  const result = await runSoak({
    ops: number('OPS', 200),
    seed,
    nodes: number('NODES', 3),
    // Two may run beside each other.
    name: `soak-${process.pid}`,
    shortest: number('SHORTEST', 5),
    longest: number('LONGEST', 60),
    pause: number('PAUSE_MS', 4_000),
    say,
    signal,
  });
  console.log(JSON.stringify(result));
  const { jobs_lost: lost, jobs_requeued_by_operator: requeued, busy_percent: busy } = result;
  return lost === 0 && requeued === 0 && busy >= 80 && result.end_state_equal;
}

async function crashes(): Promise<boolean> {
  const result = await runCrashSoak(crash, say, signal);
  console.log(JSON.stringify(result));
  return result.end_states_equal;
}

try {
  process.exitCode = (await (crash === '' ? soak() : crashes())) ? 0 : 1;
} catch (error) {
  if (!signal.aborted) throw error;
  // What was under way when the stage went would go on trying to reach it.
  process.exit();
}
