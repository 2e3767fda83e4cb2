import { spawn } from 'node:child_process';
import { CommandError, PrerequisiteError } from '../errors.ts';
import { descendants } from './process-identity.ts';

export interface RunOptions {
  readonly cwd?: string;
  /** The whole environment of the program. Default: this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** Written to its standard input. */
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** The program is killed after this time. Default: 10 minutes. */
  readonly timeoutMs?: number;
  /** Hand back a bad exit code instead of throwing. Default: false. */
  readonly allowFailure?: boolean;
  /** How much of each stream is kept, from its end. Default: 8 MiB, so that no program can fill our memory. */
  readonly keepBytes?: number;
  /** Called with each line of either stream as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface CommandResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. No shell is involved. Throws {@link CommandError} when it ends badly. */
export async function runCommand(
  command: readonly string[],
  options: RunOptions = {},
): Promise<CommandResult> {
  options.signal?.throwIfAborted();
  const [program = '', ...args] = command;
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 600_000);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const onAbort = () => killTree(child.pid);
  signal.addEventListener('abort', onAbort, { once: true });
  const stdout = collect(child.stdout, options);
  const stderr = collect(child.stderr, options);
  child.stdin.on('error', () => {}); // a program may end before it has read everything
  child.stdin.end(options.input ?? '');

  const ended = await new Promise<{ code: number | null; outcome: string }>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'ENOENT'
          ? new PrerequisiteError(`${program} is missing: install it, then run this again.`, { cause: error })
          : error,
      );
    });
    child.on('close', (code, killedBy) =>
      resolve({ code, outcome: killedBy === null ? `exit code ${code}` : `ended by ${killedBy}` }),
    );
  }).finally(() => signal.removeEventListener('abort', onAbort));
  options.signal?.throwIfAborted();
  const result = { exitCode: ended.code, stdout: stdout(), stderr: stderr() };
  if (timeout.aborted)
    throw new CommandError(command, 'took longer than it may', ended.code, result.stderr || result.stdout);
  if (ended.code !== 0 && options.allowFailure !== true)
    throw new CommandError(command, ended.outcome, ended.code, result.stderr || result.stdout);
  return result;
}

/** Also what the program started: entering a pid namespace, for one, leaves the work to a child. */
function killTree(pid: number | undefined): void {
  if (pid === undefined) return;
  for (const target of [...descendants(pid).toReversed(), pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // It ended already.
    }
  }
}

function collect(
  stream: NodeJS.ReadableStream,
  { keepBytes = 8 * 1024 * 1024, onLine }: RunOptions,
): () => string {
  let chunks: Buffer[] = [];
  let size = 0;
  let partial = '';
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    // Up to twice as much while it comes: cutting at each chunk would copy without end.
    if (size > 2 * keepBytes) {
      chunks = [Buffer.concat(chunks).subarray(-keepBytes)];
      size = keepBytes;
    }
    if (onLine === undefined) return;
    const lines = (partial + chunk.toString('utf8')).split('\n');
    partial = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  return () => Buffer.concat(chunks).subarray(-keepBytes).toString('utf8');
}
