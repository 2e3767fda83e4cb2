/** Says hints about a specification as events: each once, until it changes. */
import type { EventRecorder, Live } from '@slurm-operator/kube';

export class SpecHints {
  readonly #recorder: Pick<EventRecorder, 'warning'>;
  readonly #said = new Map<string, string>();

  constructor(recorder: Pick<EventRecorder, 'warning'>) {
    this.#recorder = recorder;
  }

  say(object: Live, hints: readonly string[]): void {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const text = hints.join('\n');
    if ((this.#said.get(key) ?? '') === text) return;
    this.#said.set(key, text);
    for (const hint of hints) this.#recorder.warning(object, 'CheckSpec', hint);
  }

  forget(key: string): void {
    this.#said.delete(key);
  }
}
