/** The steps of one reconcile: each stands alone, so what fails is told and tried again and stops no other. */
import type { Live, Manager } from '@slurm-operator/kube';
import type { Problem } from './status/conditions.ts';
import { problemOf } from './status/problem-of.ts';

export class Steps {
  readonly failures: Problem[] = [];
  readonly #errors: unknown[] = [];
  readonly #owner: Live;
  readonly #recorder: Manager['recorder'];
  readonly #signal: AbortSignal;

  constructor(owner: Live, recorder: Manager['recorder'], signal: AbortSignal) {
    this.#owner = owner;
    this.#recorder = recorder;
    this.#signal = signal;
  }

  /** Whether it succeeded. */
  async run(name: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      const ignored = ignoredIn(await work());
      if (ignored.length > 0) this.#reportIgnored(name, ignored);
      return true;
    } catch (error) {
      if (this.#signal.aborted) throw error;
      this.#errors.push(error);
      const problem = problemOf(error, name);
      this.failures.push(problem);
      this.#recorder.warning(this.#owner, 'SyncFailed', problem.message, 'Sync');
      return false;
    }
  }

  #reportIgnored(name: string, paths: readonly string[]): void {
    const message = `${name}: Kubernetes does not know ${paths.join(', ')}, so the operator left it out. Correct or remove it in the template of the custom resource; names are case-sensitive.`;
    this.failures.push({ reason: 'FieldIgnored', message, stillReady: true });
    this.#recorder.warning(this.#owner, 'FieldIgnored', message, 'Sync');
  }

  /** After the status was written: lets the queue try again. */
  throwFailures(): void {
    if (this.#errors.length === 0) return;
    throw new AggregateError(this.#errors, this.failures.map(({ message }) => message).join('; '));
  }
}

/** What an apply left out, if the work was one. */
function ignoredIn(done: unknown): readonly string[] {
  if (typeof done !== 'object' || done === null || !('ignored' in done)) return [];
  return Array.isArray(done.ignored) ? (done.ignored as string[]) : [];
}
