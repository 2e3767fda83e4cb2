/** kubectl of Debian, pointed at one cluster. */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { findKubectl } from '@slurm-operator/localcluster';
import { type CommandResult, runCommand } from '@slurm-operator/sandbox';

export interface Forwarded extends AsyncDisposable {
  /** The port of this machine. */
  readonly port: number;
}

export class Kubectl {
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;

  private constructor(program: string, kubeconfig: string) {
    this.#program = program;
    this.#env = { ...process.env, KUBECONFIG: kubeconfig };
  }

  static async open(kubeconfig: string): Promise<Kubectl> {
    return new Kubectl(await findKubectl(), kubeconfig);
  }

  get program(): string {
    return this.#program;
  }

  run(
    args: readonly string[],
    options: { readonly input?: string; readonly allowFailure?: boolean; readonly timeoutMs?: number } = {},
  ): Promise<CommandResult> {
    return runCommand([this.#program, ...args], { env: this.#env, timeoutMs: 300_000, ...options });
  }

  /** Lines as a person pastes them into a shell. */
  shell(lines: string, options: { readonly timeoutMs?: number } = {}): Promise<CommandResult> {
    const env = { ...this.#env, PATH: `${dirname(this.#program)}:${process.env['PATH'] ?? ''}` };
    return runCommand(['bash', '-c', lines], { env, timeoutMs: 120_000, ...options });
  }

  async say(...args: readonly string[]): Promise<string> {
    return (await this.run(args)).stdout;
  }

  spawn(args: readonly string[]): ChildProcess {
    return spawn(this.#program, [...args], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** A port of this machine that leads to one in the cluster, until it is disposed of. */
  async forward(namespace: string, target: string, port: number): Promise<Forwarded> {
    const child = this.spawn(['--namespace', namespace, 'port-forward', target, `:${port}`]);
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const close = async () => {
      child.kill();
      await ended;
    };
    let said = '';
    const local = await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`port-forward to ${target} did not begin: ${said}`)),
        120_000,
      );
      const read = (chunk: Buffer) => {
        said += chunk.toString('utf8');
        const found = /127\.0\.0\.1:(\d+) ->/.exec(said);
        if (found !== null) {
          clearTimeout(timer);
          resolve(Number(found[1]));
        }
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('close', () => {
        clearTimeout(timer);
        reject(new Error(`port-forward to ${target} ended: ${said}`));
      });
    }).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    return { port: local, [Symbol.asyncDispose]: close };
  }
}
