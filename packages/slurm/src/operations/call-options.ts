/** Options of every operation. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Deadline of this call. */
  readonly timeoutMs?: number;
}

/** The result of a write. `gone`: the object does not exist, so there is nothing to do. */
export interface WriteResult {
  readonly outcome: 'accepted' | 'gone';
  /** When the response arrived, on the client's clock: a list that began after it shows the effect. */
  readonly at: number;
  /** Slurm's warnings, such as ignored fields. */
  readonly warnings: readonly string[];
}

/** Only the options that are set, to spread into a call. */
export function callOptions(options: CallOptions | undefined): CallOptions {
  return {
    ...(options?.signal && { signal: options.signal }),
    ...(options?.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  };
}
