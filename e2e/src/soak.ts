/** `make soak OPS=200 SEED=1`, or `make soak CRASH=all`: the last line is JSON. */
import { runCrashSoak } from './crash-soak.ts';
import { runSoak } from './run-soak.ts';

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

async function soak(): Promise<boolean> {
  const result = await runSoak({
    ops: number('OPS', 200),
    seed,
    nodes: number('NODES', 3),
    name: 'soak',
    shortest: number('SHORTEST', 5),
    longest: number('LONGEST', 60),
    pause: number('PAUSE_MS', 4_000),
    say,
  });
  console.log(JSON.stringify(result));
  const { jobs_lost: lost, jobs_requeued_by_operator: requeued, busy_percent: busy } = result;
  return lost === 0 && requeued === 0 && busy >= 80 && result.end_state_equal;
}

async function crashes(): Promise<boolean> {
  const result = await runCrashSoak(crash, say);
  console.log(JSON.stringify(result));
  return result.end_states_equal;
}

process.exitCode = (await (crash === '' ? soak() : crashes())) ? 0 : 1;
