import { spawn } from 'node:child_process';
import { bold, dim, duration, green, red } from './terminal.ts';

/** One named piece of work behind a door. Its output is shown only when it fails, or as it comes when `live`. */
export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly live?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a step, prints one line with the time it took (and a sign of life every 30 s), and says whether it passed. */
export async function runStep(step: Step): Promise<boolean> {
  const began = performance.now();
  const [program = '', ...args] = step.command;
  if (step.live) console.log(`${bold('▸')} ${step.name}`);
  const child = spawn(program, args, {
    stdio: step.live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...step.env },
  });
  const output: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
  const alive = setInterval(() => {
    if (!step.live) console.log(dim(`  … ${step.name}, ${duration(performance.now() - began)} so far`));
  }, 30_000);
  const code = await new Promise<number>((resolve) => {
    child.on('error', (error) => {
      output.push(Buffer.from(`cannot start ${program}: ${error.message}\n`));
      resolve(127);
    });
    child.on('close', (exit) => resolve(exit ?? 1));
  });
  clearInterval(alive);
  const took = duration(performance.now() - began);
  console.log(
    code === 0 ? `${green('✔')} ${step.name} ${dim(took)}` : `${red('✘')} ${step.name} ${dim(took)}`,
  );
  if (code !== 0 && !step.live) process.stdout.write(Buffer.concat(output));
  return code === 0;
}
