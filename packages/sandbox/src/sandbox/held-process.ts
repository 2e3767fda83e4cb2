import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { SandboxError } from '../errors.ts';
import { identify, isAlive, type ProcessIdentity, signalProcess } from '../process/process-identity.ts';
import { waitUntil } from '../process/wait-until.ts';
import type { HostPrograms } from './host-programs.ts';
import type { SandboxRecord } from './sandbox-record.ts';

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A recorded process of the machine that the kernel ends when this program ends, in whatever way. */
export interface HeldProcess {
  readonly child: ChildProcess;
  readonly identity: ProcessIdentity;
  readonly exit: Promise<ExitStatus>;
  /** SIGKILL, and waits until it is gone. */
  end(): Promise<void>;
}

export interface HeldOptions {
  /** What it is for, in the record. */
  readonly what: string;
  readonly command: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly stdio?: StdioOptions;
}

export function holdProcess(
  programs: HostPrograms,
  record: SandboxRecord,
  options: HeldOptions,
): HeldProcess {
  const child = spawn(programs.setpriv, ['--pdeathsig', 'KILL', ...options.command], {
    env: options.env ?? { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: options.stdio ?? ['ignore', 'ignore', 'ignore'],
  });
  const exit = new Promise<ExitStatus>((resolve) => {
    child.on('error', () => resolve({ code: 127, signal: null }));
    child.on('exit', (code, signal) => resolve({ code, signal }));
  });
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  if (identity === undefined)
    throw new SandboxError('START_FAILED', `cannot start ${options.command.join(' ')} for ${options.what}`);
  record.addProcess({ ...identity, what: options.what });
  void exit.then(() => record.removeProcess(identity));
  return {
    child,
    identity,
    exit,
    async end() {
      signalProcess(identity, 'SIGKILL');
      await exit;
      await waitUntil(`process ${identity.pid} to end`, () => !isAlive(identity), { intervalMs: 5 });
    },
  };
}
