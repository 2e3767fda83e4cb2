import { spawn } from 'node:child_process';

/** One program that a make target runs. */
export interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each line of output. */
  readonly onLine?: (line: string) => void;
}

export interface StepResult {
  readonly passed: boolean;
  /** The end of its output. */
  readonly output: string;
  readonly milliseconds: number;
}

const keptCharacters = 64 * 1024;

/** Runs a step to its end and says whether it passed. */
export async function runStep(step: Step): Promise<StepResult> {
  const began = performance.now();
  const [program = '', ...args] = step.command;
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...step.env },
  });
  let output = '';
  let partial = '';
  const hear = (chunk: string) => {
    output = `${output}${chunk}`.slice(-keptCharacters);
    const lines = `${partial}${chunk}`.split('\n');
    partial = lines.pop() ?? '';
    for (const line of lines) step.onLine?.(line);
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  const passed = await new Promise<boolean>((resolve) => {
    child.on('error', (error) => {
      hear(`cannot start ${program}: ${error.message}\n`);
      resolve(false);
    });
    child.on('close', (code, signal) => {
      if (signal !== null) hear(`ended by ${signal}\n`);
      resolve(code === 0);
    });
  });
  return { passed, output, milliseconds: performance.now() - began };
}
