/** A simulator process as a benchmark sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { SimulatorAnswer, SimulatorCommand, SimulatorStart } from './simulator-process.ts';

export class Simulated implements AsyncDisposable {
  readonly #child: ChildProcess;
  #naive: ChildProcess | undefined;
  #server = '';
  #tokens: Readonly<Record<string, string>> = {};
  /** One question at a time over the channel. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'simulator-process.ts'));
  }

  static async start(options: SimulatorStart): Promise<Simulated> {
    const simulated = new Simulated();
    const { server, tokens } = await simulated.#ask({ kind: 'start', start: options }, 'started');
    simulated.#server = server;
    simulated.#tokens = tokens;
    return simulated;
  }

  get server(): string {
    return this.#server;
  }

  get token(): string {
    return this.#tokens['watch'] ?? '';
  }

  /** Starts the naive poller beside. */
  startNaive(): void {
    this.#naive = fork(join(import.meta.dirname, 'naive-process.ts'), {
      env: { ...process.env, SLURM_SERVER: this.#server, SLURM_JWT: this.#tokens['naive'] ?? '' },
    });
  }

  /** Changes a node; tells when. */
  async change(node: string, comment: string): Promise<number> {
    return (await this.#ask({ kind: 'change', node, comment }, 'changed')).at;
  }

  async bytes(who: 'watch' | 'naive') {
    return this.#ask({ kind: 'bytes', user: who === 'watch' ? 'slurm' : 'root' }, 'bytes');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of [this.#naive, this.#child]) {
      if (child === undefined || child.exitCode !== null) continue;
      const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill();
      await exit;
    }
  }

  #ask<K extends SimulatorAnswer['kind']>(
    command: SimulatorCommand,
    kind: K,
  ): Promise<SimulatorAnswer & { kind: K }> {
    const asked = this.#turn.then(
      () =>
        new Promise<SimulatorAnswer & { kind: K }>((resolve, reject) => {
          this.#child.once('message', (answer: SimulatorAnswer) => {
            if (answer.kind === kind) resolve(answer as SimulatorAnswer & { kind: K });
            else reject(new Error(`the simulator answered ${answer.kind} to ${command.kind}`));
          });
          this.#child.send(command);
        }),
    );
    this.#turn = asked.catch(() => undefined);
    return asked;
  }
}
