/** A value that a plan carries and nothing prints: JSON, the log and the inspector show a placeholder. */
import { inspect } from 'node:util';

const placeholder = '[redacted]';

export class Sensitive<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toJSON(): string {
    return placeholder;
  }

  toString(): string {
    return placeholder;
  }

  [inspect.custom](): string {
    return placeholder;
  }
}
