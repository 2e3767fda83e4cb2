import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { scratchDirectory } from '@slurm-operator/sandbox';
import type { Failure } from './failures.ts';
import type { Tally } from './tally-reporter.ts';

export interface FilesResult extends Tally {
  readonly milliseconds: number;
  /** What the runner wrote, from its end. Empty when it was shown as it came. */
  readonly output: string;
}

export interface RunFilesOptions {
  /** `none`: all files in one process, for those that touch nothing but memory. */
  readonly isolation: 'none' | 'process';
  /** Shown as it comes instead of kept. */
  readonly live: boolean;
  /** What takes longer hangs, and is a failure. @default 40 minutes, or MINUTES */
  readonly limitMs?: number;
}

const keptCharacters = 64 * 1024;

/** `MINUTES=90 make test …`: for a file that runs on request and takes longer on a slow machine. */
function fileLimit(minutes = process.env['MINUTES'] || '40'): number {
  if (!(Number(minutes) > 0))
    throw new Error(
      `MINUTES=${minutes} is no time: write the minutes that a test file may take, such as MINUTES=90`,
    );
  return Number(minutes) * 60_000;
}

/** Runs test files in a runner of their own and counts what happened. */
export async function runFiles(
  title: string,
  files: readonly string[],
  { isolation, live, limitMs = fileLimit() }: RunFilesOptions,
): Promise<FilesResult> {
  const scratch = scratchDirectory('tally');
  const tallyFile = join(scratch, 'tally.json');
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [
      // The runner hands this on to the process of each file.
      `--import=${join(import.meta.dirname, 'end-with-parent.ts')}`,
      '--test',
      `--test-isolation=${isolation}`,
      '--test-concurrency=1',
      `--test-reporter=${join(import.meta.dirname, 'tally-reporter.ts')}`,
      ...files,
    ],
    { stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'], env: { ...process.env, TALLY_FILE: tallyFile } },
  );
  let output = '';
  const keep = (chunk: string) => {
    output = `${output}${chunk}`.slice(-keptCharacters);
  };
  child.stdout?.setEncoding('utf8').on('data', keep);
  child.stderr?.setEncoding('utf8').on('data', keep);
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    // The runner tells what it has so far, and what it started ends with it.
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 20_000).unref();
  }, limitMs);
  const outcome = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(`not started: ${error.message}`));
    child.on('close', (code, signal) =>
      resolve(signal === null ? `exit code ${code}` : `ended by ${signal}`),
    );
  });
  clearTimeout(limit);
  const tally = readTally(tallyFile);
  rmSync(scratch, { recursive: true, force: true });
  const failures: Failure[] = [...tally.failures];
  if (late)
    failures.push({ name: title, where: '', error: `it was not over after ${limitMs / 60_000} minutes` });
  // A runner that ended badly without a failed test is a failure of its own.
  else if (outcome !== 'exit code 0' && failures.length === 0)
    failures.push({ name: title, where: '', error: `its runner: ${outcome}, although no test failed` });
  else if (!tally.complete && failures.length === 0)
    failures.push({ name: title, where: '', error: 'its runner ended before it could tell its results' });
  return { ...tally, failures, milliseconds: performance.now() - began, output };
}

function readTally(file: string): Tally {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Tally;
  } catch {
    return { passed: 0, failures: [], skipped: [], said: '', complete: false };
  }
}
