/** Runs a program to its end, without a shell, with a deadline. */
import { spawn } from 'node:child_process';
import { LocalClusterError } from '../errors.ts';

export interface RunOptions {
  readonly input?: string;
  /** @default 30_000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly env?: NodeJS.ProcessEnv;
  /** Hand back a bad exit code instead of throwing. */
  readonly allowFailure?: boolean;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** More output than this is cut off: no program fills our memory. */
const keptBytes = 4 * 1024 * 1024;

export async function run(command: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const [program = '', ...args] = command;
  const deadline = AbortSignal.timeout(options.timeoutMs ?? 30_000);
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]),
    killSignal: 'SIGKILL',
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const keep = (into: Buffer[]) => {
    let size = 0;
    return (chunk: Buffer) => {
      size += chunk.length;
      if (size <= keptBytes) into.push(chunk);
    };
  };
  child.stdout.on('data', keep(stdout));
  child.stderr.on('data', keep(stderr));
  child.stdin.on('error', () => {}); // a program may end before it has read everything
  child.stdin.end(options.input ?? '');
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT')
        reject(
          new LocalClusterError(
            'ToolMissing',
            `${program} is missing on this machine: install it, then try again.`,
          ),
        );
      else if (error.name !== 'AbortError') reject(error);
    });
    child.on('close', (exit, signal) => resolve(exit ?? (signal === null ? 1 : 128)));
  });
  options.signal?.throwIfAborted();
  const result = {
    code,
    stdout: Buffer.concat(stdout).toString('utf8'),
    stderr: Buffer.concat(stderr).toString('utf8'),
  };
  if (code !== 0 && options.allowFailure !== true) {
    const said = (result.stderr || result.stdout).trim().split('\n').slice(-5).join(' / ');
    throw new LocalClusterError(
      'CommandFailed',
      `${command.slice(0, 6).join(' ')} ${deadline.aborted ? 'took too long' : `ended with ${code}`}: ${said}`,
    );
  }
  return result;
}
