import { spawn } from 'node:child_process';
import { bold, dim, duration, green, red } from './terminal.ts';

/** One named piece of work behind a door. Its output is shown only when it fails, or as it comes when `live`. */
export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly live?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export interface StepResult {
  readonly passed: boolean;
  /** How it ended: `exit code 0`, `ended by SIGKILL`. */
  readonly outcome: string;
  /** What it said; empty for a live step. */
  readonly output: string;
}

/** Runs a step, prints one line with the time it took (and a sign of life every 30 s), and says whether it passed. */
export async function runStep(step: Step): Promise<StepResult> {
  const began = performance.now();
  const [program = '', ...args] = step.command;
  if (step.live) console.log(`${bold('▸')} ${step.name}`);
  const child = spawn(program, args, {
    stdio: step.live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...step.env },
  });
  const said: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => said.push(chunk));
  const alive = setInterval(() => {
    if (!step.live) console.log(dim(`  … ${step.name}, ${duration(performance.now() - began)} so far`));
  }, 30_000);
  const outcome = await new Promise<string>((resolve) => {
    child.on('error', (error) => {
      said.push(Buffer.from(`cannot start ${program}: ${error.message}\n`));
      resolve('not started');
    });
    child.on('close', (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `ended by ${signal}`),
    );
  });
  clearInterval(alive);
  const passed = outcome === 'exit code 0';
  const output = Buffer.concat(said).toString('utf8');
  console.log(`${passed ? green('✔') : red('✘')} ${step.name} ${dim(duration(performance.now() - began))}`);
  if (!passed) process.stdout.write(output);
  return { passed, outcome, output };
}
