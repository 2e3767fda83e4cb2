/** A program that runs beside a test: what it said last is kept, and it is told to end before it is made to. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Enough for a usage text or a stack; programs of this size write megabytes. */
const keptBytes = 4000;
const patience = 10_000;

export class ChildProgram {
  readonly #name: string;
  readonly #child: ChildProcess;
  #said = '';
  #failure: string | undefined;

  constructor(program: string, args: readonly string[]) {
    this.#name = program.slice(program.lastIndexOf('/') + 1);
    this.#child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#said = (this.#said + chunk).slice(-keptBytes);
    });
    this.#child.once('error', (error) => {
      this.#failure = `${this.#name} cannot be started: ${error.message}`;
    });
  }

  /** Why it does not run any more; undefined while it does. */
  get ended(): string | undefined {
    if (this.#failure !== undefined) return this.#failure;
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) return undefined;
    const how = exitCode === null ? `by ${signalCode}` : `with ${exitCode}`;
    return `${this.#name} ended ${how}: ${this.#said.trim() || 'without output'}`;
  }

  async stop(): Promise<void> {
    if (this.ended !== undefined) return;
    const exit = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patience);
    await exit;
    clearTimeout(timer);
  }
}
