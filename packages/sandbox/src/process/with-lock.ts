import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PrerequisiteError } from '../errors.ts';

export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Called once if another process holds the lock. */
  readonly onWait?: () => void;
}

/**
 * Runs `work` while holding an exclusive lock on `file`, across processes.
 *
 * The kernel's flock is held by a small child whose standard input is our pipe: when this process ends in any
 * way, the pipe closes, the child ends and the lock is free. So no lock can outlive its holder, and there is no
 * "stale lock" to guess about.
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  options.signal?.throwIfAborted();
  await mkdir(dirname(file), { recursive: true });
  const holder = spawn('flock', ['--exclusive', file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = new Promise<void>((resolve) => {
    holder.on('close', () => resolve());
  });
  const waiting = setTimeout(() => options.onWait?.(), 500);
  const onAbort = () => holder.kill('SIGKILL');
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      holder.on('error', (cause) =>
        reject(new PrerequisiteError('flock is missing: install util-linux.', { cause })),
      );
      holder.stdout.once('data', () => resolve());
      void exited.then(() =>
        reject(options.signal?.reason ?? new PrerequisiteError(`cannot lock ${file}: flock ended early.`)),
      );
    });
    clearTimeout(waiting);
    return await work();
  } finally {
    clearTimeout(waiting);
    options.signal?.removeEventListener('abort', onAbort);
    holder.stdin.end();
    if (holder.exitCode === null && holder.signalCode === null && holder.pid !== undefined)
      await once(holder, 'close');
  }
}
