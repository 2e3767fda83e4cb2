/** One run of one container under runc, from start to exit code. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Machine } from '../../machine/machine.ts';
import type { Toolbox } from '../../machine/toolbox.ts';
import { AgentError } from '../errors.ts';
import type { Cgroups } from './cgroups.ts';
import type { LogWriter } from './log-file.ts';

export interface ContainerRequest {
  readonly id: string;
  readonly bundle: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly cgroupsPath: string;
  readonly log: LogWriter;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly hasMemoryLimit: boolean;
}

export interface Exit {
  readonly code: number;
  readonly oomKilled: boolean;
}

export interface ExecRequest {
  readonly command: readonly string[];
  readonly tty: boolean;
}

export class RunningContainer {
  readonly id: string;
  readonly exited: Promise<Exit>;
  /** The runc that stays with the container; its streams are the container's. */
  readonly process: ChildProcess;
  readonly #machine: Machine;
  readonly #tools: Toolbox;
  readonly #runcRoot: string;

  private constructor(
    request: ContainerRequest,
    child: ChildProcess,
    machine: Machine,
    tools: Toolbox,
    runcRoot: string,
    cgroups: Cgroups,
  ) {
    this.id = request.id;
    this.process = child;
    this.#machine = machine;
    this.#tools = tools;
    this.#runcRoot = runcRoot;
    this.exited = new Promise<number>((resolve) => {
      child.once('close', (code, signal) => resolve(code ?? (signal === 'SIGKILL' ? 137 : 1)));
    }).then(async (code) => {
      await request.log.end();
      const oomKilled = request.hasMemoryLimit && (await cgroups.oomKills(request.cgroupsPath)) > 0;
      if (request.hasMemoryLimit) await this.#runc(['delete', '--force', this.id]);
      return { code, oomKilled };
    });
  }

  /** Resolves when the container's own process runs; throws when it cannot be started. */
  static async start(
    request: ContainerRequest,
    machine: Machine,
    tools: Toolbox,
    runcRoot: string,
    cgroups: Cgroups,
  ): Promise<RunningContainer> {
    await mkdir(request.bundle, { recursive: true });
    await writeFile(join(request.bundle, 'config.json'), JSON.stringify(request.spec));
    const pidFile = join(request.bundle, 'pid');
    const logFile = join(request.bundle, 'runc.log');
    await rm(pidFile, { force: true });
    // --keep: the control group must outlive the container to tell whether memory ran out.
    const runc = [tools.runc, '--root', runcRoot, '--log', logFile, 'run', '--pid-file', pidFile];
    if (request.hasMemoryLimit) runc.push('--keep');
    runc.push('--bundle', request.bundle, request.id);
    const command = request.tty ? ['script', '-qefc', shellQuote(runc), '/dev/null'] : runc;
    const [program = '', ...args] = [...machine.enter(), ...command];
    const child = spawn(program, args, {
      stdio: [request.stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      env: tools.env,
    });
    child.stdin?.on('error', () => {});
    child.stdout?.on('data', (chunk: Buffer) => request.log.write('stdout', chunk));
    child.stderr?.on('data', (chunk: Buffer) => request.log.write('stderr', chunk));
    const container = new RunningContainer(request, child, machine, tools, runcRoot, cgroups);
    const deadline = performance.now() + 60_000;
    while (!(await exists(pidFile))) {
      if (child.exitCode !== null || child.signalCode !== null) {
        // It may have begun and ended between two looks.
        if (await exists(pidFile)) break;
        throw new AgentError('RunContainerError', await startFailure(logFile));
      }
      if (performance.now() > deadline)
        throw new AgentError(
          'RunContainerError',
          'the container runtime did not start the container within 60 s',
        );
      await delay(4);
    }
    return container;
  }

  async kill(signal: string): Promise<void> {
    await this.#runc(['kill', ...(signal === 'KILL' ? ['--all'] : []), this.id, signal]);
  }

  /** A command inside the container, with its streams as pipes. */
  exec(request: ExecRequest): ChildProcess {
    const runc = [
      this.#tools.runc,
      '--root',
      this.#runcRoot,
      'exec',
      ...(request.tty ? ['--tty'] : []),
      this.id,
    ];
    const whole = [...runc, ...request.command];
    const command = request.tty ? ['script', '-qefc', shellQuote(whole), '/dev/null'] : whole;
    const [program = '', ...args] = [...this.#machine.enter(), ...command];
    return spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: this.#tools.env });
  }

  async #runc(args: readonly string[]): Promise<void> {
    await this.#machine.run([this.#tools.runc, '--root', this.#runcRoot, ...args], {
      allowFailure: true,
      env: this.#tools.env,
    });
  }
}

const exists = (path: string) =>
  stat(path).then(
    (found) => found.size > 0,
    () => false,
  );

/** runc's last output, shortened to the part about the container. */
async function startFailure(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  const last =
    text
      .trim()
      .split('\n')
      .findLast((line) => line.includes('level=error')) ?? '';
  const message =
    /msg="((?:[^"\\]|\\.)*)"/.exec(last)?.[1]?.replaceAll('\\"', '"') ??
    'the container runtime gave no reason';
  return `OCI runtime create failed: ${message}`;
}

const shellQuote = (words: readonly string[]) =>
  words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
