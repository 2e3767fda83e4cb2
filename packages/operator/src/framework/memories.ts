/** What reconcilers remember between two runs, by object. It is lost with the process: a plan must be safe without it. */

export interface MemoryDefinition<P, Memory, Note> {
  readonly initial: Memory;
  /** Pure: what the next reconcile gets. */
  readonly next: (plan: P, notes: readonly Note[], succeeded: (action: object) => boolean) => Memory;
  /** Pure: milliseconds for which the object is not observed again, whatever happens. */
  readonly restLeft?: (memory: Memory, now: number) => number;
}

interface ObjectMemory<P, Memory, Note> {
  readonly value: Memory;
  restLeft(now: number): number;
  learn(plan: P, notes: readonly Note[], succeeded: ReadonlySet<object>): void;
}

export class Memories<P, Memory, Note> {
  readonly #definition: MemoryDefinition<P, Memory, Note> | undefined;
  readonly #byKey = new Map<string, { readonly uid: string; value: Memory }>();

  constructor(definition: MemoryDefinition<P, Memory, Note> | undefined) {
    this.#definition = definition;
  }

  /** An object that was deleted and created again begins with an empty memory. */
  of(key: string, uid: string): ObjectMemory<P, Memory, Note> {
    const definition = this.#definition;
    // A kind without a memory has undefined as its type.
    if (definition === undefined)
      return { value: undefined as Memory, restLeft: () => 0, learn: () => undefined };
    const known = this.#byKey.get(key);
    const stored = known?.uid === uid ? known : { uid, value: definition.initial };
    this.#byKey.set(key, stored);
    return {
      get value() {
        return stored.value;
      },
      restLeft: (now) => definition.restLeft?.(stored.value, now) ?? 0,
      learn: (plan, notes, succeeded) => {
        stored.value = definition.next(plan, notes, (action) => succeeded.has(action));
      },
    };
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }
}
