import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { InvalidRequestError, SandboxError, TimeoutError } from '../errors.ts';
import { identify, type ProcessIdentity, signalProcess } from '../process/process-identity.ts';
import { type CommandResult, type RunOptions, runCommand } from '../process/run-command.ts';
import { type WaitOptions, waitUntil } from '../process/wait-until.ts';
import type { RootFile } from '../rootfs/root-files.ts';
import { BoxFiles, type BoxFilesOptions } from './box-files.ts';
import { type StagePlan, stageArguments } from './box-stage.ts';
import { freeze, thaw } from './freeze.ts';
import { type ExitStatus, type HeldProcess, holdProcess } from './held-process.ts';
import type { HostPrograms } from './host-programs.ts';
import type { Network, Port } from './network.ts';
import { firstChild, listens, readTail } from './observe.ts';
import type { SandboxRecord } from './sandbox-record.ts';

export interface BoxOptions extends BoxFilesOptions {
  /** Unique in the sandbox; a valid host name. */
  readonly name: string;
  /** What runs inside, as process 1. Default: `sleep infinity`. */
  readonly command?: readonly string[];
  /** Default: the name. */
  readonly hostname?: string;
  /** A name in the box's /etc/passwd, `uid` or `uid:gid`. Default: root. */
  readonly user?: string;
  /** The whole environment besides PATH, which has Debian's default. */
  readonly env?: Readonly<Record<string, string>>;
  /** Networks to be connected to, as eth0, eth1, … Default: none, loopback only. */
  readonly networks?: readonly (Network | { readonly network: Network; readonly address: string })[];
  /** Share the network of another box instead of having one. */
  readonly networkOf?: Box;
}

export interface ExecOptions extends RunOptions {
  /** Default: root. */
  readonly user?: string;
}

/** What a box needs from its sandbox. */
export interface BoxPlace {
  readonly programs: HostPrograms;
  readonly record: SandboxRecord;
  readonly directory: string;
  /** Process 1 of the pid namespace around all boxes. */
  readonly keeper: ProcessIdentity;
  /** Keeps host name and IPC. */
  readonly holder: HeldProcess;
  /** Keeps the network; the one of another box when it is shared. */
  readonly networkHolder: HeldProcess;
  readonly ports: readonly Port[];
}

interface Run {
  readonly main: HeldProcess;
  readonly first: ProcessIdentity;
  /** We ended it: unshare, which waits for process 1, cannot pass SIGKILL on in its own exit status. */
  killed: boolean;
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * A small computer: processes with their own network, files, host name, IPC and process numbers. Its network and its
 * files stay through kill and restart, as a machine's do through a power cut.
 */
export class Box {
  readonly name: string;
  readonly options: BoxOptions;
  /** What its processes wrote, all runs in one file. */
  readonly logFile: string;
  /** For the sandbox only. */
  readonly place: BoxPlace;
  readonly #files: BoxFiles;
  #run: Run | undefined;

  constructor(options: BoxOptions, place: BoxPlace) {
    this.name = options.name;
    this.options = options;
    this.place = place;
    this.logFile = join(place.directory, 'log');
    this.#files = new BoxFiles(options.name, options, place.directory);
  }

  /** The address on its first network. */
  get address(): string {
    const port = this.place.ports[0];
    if (port === undefined)
      throw new InvalidRequestError(`box ${this.name} has no network: give it one in "networks".`);
    return port.address;
  }

  /** The address on a given network. */
  addressOn(network: Network): string | undefined {
    return this.place.ports.find((port) => port.network === network)?.address;
  }

  get running(): boolean {
    return this.#run !== undefined && identify(this.#run.first.pid)?.startTime === this.#run.first.startTime;
  }

  /** Process 1 of the box as the machine numbers it. */
  get pid(): number {
    return this.#current().first.pid;
  }

  /** A process that keeps the box's network namespace, for tools that enter it by pid. */
  get networkPid(): number {
    return this.place.networkHolder.identity.pid;
  }

  /** How the current run ends. */
  get exit(): Promise<ExitStatus> {
    const run = this.#current();
    return run.main.exit.then((status) => (run.killed ? { code: null, signal: 'SIGKILL' } : status));
  }

  async start(): Promise<void> {
    if (this.running) throw new SandboxError('ALREADY_RUNNING', `box ${this.name} runs already.`);
    const { programs, record, keeper, holder, networkHolder } = this.place;
    const plan: StagePlan = {
      ...(await this.#files.prepare()),
      ...(await this.#files.account(this.options.user)),
      command: this.options.command ?? ['sleep', 'infinity'],
    };
    const log = openSync(this.logFile, 'a');
    const ns = (kind: string, from: ProcessIdentity) => `--${kind}=/proc/${from.pid}/ns/${kind}`;
    try {
      const main = holdProcess(programs, record, {
        what: `box ${this.name}`,
        env: { PATH: defaultPath, ...this.options.env },
        stdio: ['ignore', log, log, 'pipe'],
        command: [
          programs.nsenter,
          ns('net', networkHolder.identity),
          ns('uts', holder.identity),
          ns('ipc', holder.identity),
          ns('pid', keeper),
          // Entering a pid namespace needs a child, which must not outlive the process that we hold.
          programs.setpriv,
          '--pdeathsig',
          'KILL',
          programs.unshare,
          '--mount',
          '--pid',
          '--fork',
          '--kill-child',
          '--propagation',
          'private',
          programs.sh,
          ...stageArguments(plan),
        ],
      });
      const gate = main.child.stdio[3] as Duplex;
      const first = await becomesReady(main, gate);
      if (first === undefined) {
        const { code, signal } = await main.exit;
        throw new SandboxError(
          'START_FAILED',
          `box ${this.name} cannot be made (${signal ?? `exit code ${code}`}): ${this.logTail()}`,
        );
      }
      this.#run = { main, first, killed: false };
      record.addProcess({ ...first, what: `process 1 of box ${this.name}` });
      void main.exit.then(() => record.removeProcess(first));
      gate.end('go\n');
      if (plan.overlay !== undefined) await entersItsRoot(first.pid);
    } finally {
      closeSync(log);
    }
  }

  /** Runs a command inside, as its own process beside the main one. */
  async exec(command: readonly string[], options: ExecOptions = {}): Promise<CommandResult> {
    const { user, env, ...rest } = options;
    if (!this.running)
      throw new SandboxError('NOT_RUNNING', `box ${this.name} does not run: ${command[0]} cannot.`);
    const account = await this.#files.account(user);
    return runCommand(
      [
        this.place.programs.nsenter,
        '--target',
        String(this.pid),
        '--mount',
        '--uts',
        '--ipc',
        '--net',
        '--pid',
        '--root',
        '--wd',
        '--setgid',
        String(account.gid),
        '--setuid',
        String(account.uid),
        '--',
        ...command,
      ],
      { timeoutMs: 60_000, ...rest, env: { PATH: defaultPath, ...(env ?? this.options.env) } },
    );
  }

  signal(signal: NodeJS.Signals): boolean {
    return signalProcess(this.#current().first, signal);
  }

  /** Stops every process inside where it is: a machine that hangs. */
  async pause(): Promise<void> {
    await freeze(this.pid);
  }

  resume(): void {
    thaw(this.pid);
  }

  /** Pulls the network cables. */
  async cutOff(): Promise<void> {
    for (const port of this.place.ports) await port.setLink('down');
  }

  /** Plugs the network cables in again. */
  async bringBack(): Promise<void> {
    for (const port of this.place.ports) await port.setLink('up');
  }

  /** A power cut: every process inside is gone when this returns. Network and files stay. */
  async kill(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.killed ||= signalProcess(run.first, 'SIGKILL');
    await run.main.exit;
  }

  /** SIGTERM, and SIGKILL after `graceMs` (default 5 s). */
  async stop(graceMs = 5000): Promise<void> {
    const run = this.#run;
    if (run === undefined || !this.running) return;
    thaw(run.first.pid);
    signalProcess(run.first, 'SIGTERM');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), graceMs);
    });
    if ((await Promise.race([run.main.exit, late])) === 'late') await this.kill();
    clearTimeout(timer);
  }

  async restart(graceMs?: number): Promise<void> {
    await this.stop(graceMs);
    await this.start();
  }

  /** Waits until `check` holds; fails at once, with the end of the log, when the box ends before. */
  async waitFor<T>(
    what: string,
    check: () => T | Promise<T>,
    options: WaitOptions = {},
  ): Promise<NonNullable<T>> {
    return waitUntil(
      `${what} of box ${this.name}`,
      async () => {
        if (!this.running)
          throw new SandboxError('BOX_ENDED', `box ${this.name} ended before ${what}: ${this.logTail()}`);
        return check();
      },
      options,
    );
  }

  /** Waits until something inside listens on a TCP port, on any of its addresses. */
  async waitForPort(port: number, options: WaitOptions = {}): Promise<void> {
    await this.waitFor(`port ${port}`, () => listens(this.pid, port), options);
  }

  /** The last part of the log, at most `bytes` long. */
  logTail(bytes = 4000): string {
    return readTail(this.logFile, bytes);
  }

  /** Adds or replaces a file of the box, running or not. Needs a rootfs. */
  async writeFile(file: RootFile): Promise<void> {
    await this.#files.write(file, this.running ? this.pid : undefined);
  }

  /** Ends it and takes its network away. */
  async remove(): Promise<void> {
    await this.stop();
    if (this.options.networkOf === undefined) for (const port of this.place.ports) await port.remove();
    await this.place.holder.end();
    await rm(this.place.directory, { recursive: true, force: true });
  }

  #current() {
    if (this.#run === undefined)
      throw new SandboxError('NOT_RUNNING', `box ${this.name} has not been started.`);
    return this.#run;
  }
}

/** Process 1 of the box once its mounts are there; undefined when it ended before. */
async function becomesReady(main: HeldProcess, gate: Duplex): Promise<ProcessIdentity | undefined> {
  gate.on('error', () => {}); // the process may end before it is let through
  const signal = AbortSignal.timeout(30_000);
  try {
    await Promise.race([once(gate, 'data', { signal }), main.exit]);
  } catch (cause) {
    await main.end();
    throw new TimeoutError('the mounts of a box were not there after 30 s', { cause });
  }
  const inside = firstChild(main.identity.pid);
  return inside && firstChild(inside.pid);
}

/** Before that, `exec` would run its command on the files of the machine. A process that has ended has no root. */
async function entersItsRoot(pid: number): Promise<void> {
  const machine = await stat('/');
  await waitUntil(
    `process ${pid} to enter its root file system`,
    async () => {
      const root = await stat(`/proc/${pid}/root`).catch(() => undefined);
      return root === undefined || root.dev !== machine.dev || root.ino !== machine.ino;
    },
    { intervalMs: 1 },
  );
}
