/** The steps of one reconcile: each stands alone, so what fails is told and tried again and stops no other. */
import { explain, type Live, type Manager, NotOwnedError } from '@slurm-operator/kube';
import type { Trouble } from '../status/judge.ts';
import { refusedRequest } from '../status/refused-request.ts';

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
      await work();
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

  /** After the status was written: lets the queue try again. */
  throwFailures(): void {
    if (this.#errors.length === 0) return;
    throw new AggregateError(this.#errors, this.failures.map(({ message }) => message).join('; '));
  }
}
