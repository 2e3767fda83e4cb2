/** The steps of one reconcile: each stands alone, so what fails is told and tried again and stops no other. */
import { explain, type Live, type Manager, NotOwnedError } from '@slurm-operator/kube';
import type { Trouble } from './status/judge.ts';
import { refusedRequest } from './status/refused-request.ts';

export class Steps {
  readonly failures: Trouble[] = [];
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
      const refused = refusedRequest(error);
      const message = `${name}: ${refused?.message ?? explain(error)}`;
      const reason = error instanceof NotOwnedError ? 'NameConflict' : 'ApplyFailed';
      this.failures.push({ reason: refused?.reason ?? reason, message });
      this.#recorder.warning(this.#owner, 'SyncFailed', message, 'Sync');
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
