/** The manager program as a child process: started, killed and paused like the real one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ownProgram = fileURLToPath(new URL('../../packages/operator/src/manager.ts', import.meta.url));

export class OperatorProcess {
  readonly #kubeconfig: string;
  /** The file that its output is appended to, over all its lives. */
  readonly log: string;
  #child: ChildProcess | undefined;

  readonly #flags: readonly string[];
  readonly #program: string;

  /** `flags`: beside those that it needs on this machine. */
  constructor(options: {
    readonly kubeconfig: string;
    readonly log: string;
    readonly flags?: readonly string[];
    /** The manager of another copy of the sources. */
    readonly program?: string | undefined;
  }) {
    this.#kubeconfig = options.kubeconfig;
    this.log = options.log;
    this.#flags = options.flags ?? [];
    this.#program = options.program ?? ownProgram;
  }

  /** Another one beside it, with these flags as well. */
  withFlags(flags: readonly string[]): OperatorProcess {
    const kubeconfig = this.#kubeconfig;
    return new OperatorProcess({ kubeconfig, log: this.log, flags, program: this.#program });
  }

  get running(): boolean {
    return this.#child !== undefined;
  }

  start(): void {
    if (this.#child !== undefined) return;
    const flags = [
      '--kubeconfig',
      this.#kubeconfig,
      '--reach-services-by',
      'address',
      '--health-addr',
      '0',
      '--metrics-addr',
      '0',
      // Workers of others in tests read new keys within seconds.
      '--key-step-period',
      '20s',
      ...this.#flags,
    ];
    // Ends with this process, even while it is paused: without it, it would keep writing.
    const command = ['--pdeathsig', 'KILL', process.execPath, this.#program, ...flags];
    const child = spawn('setpriv', command, { stdio: ['ignore', 'pipe', 'pipe'] });
    const log = createWriteStream(this.log, { flags: 'a' });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('exit', () => log.end());
    this.#child = child;
  }

  /** SIGTERM, and SIGKILL if it does not go within the grace; `kill` is SIGKILL at once. */
  async stop(graceMs = 10_000): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(graceMs === 0 ? 'SIGKILL' : 'SIGTERM');
    child.kill('SIGCONT');
    const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await gone;
    clearTimeout(force);
  }

  kill(): Promise<void> {
    return this.stop(0);
  }

  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }
}
