/** What every operation accepts beside its own arguments. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Deadline of this call. */
  readonly timeoutMs?: number;
}

/** What came of a write. `gone`: the object does not exist (any more), so there is nothing left to do. */
export interface WriteResult {
  readonly outcome: 'accepted' | 'gone';
  /** When the answer was here, on the client's clock: a list that began after it shows the effect. */
  readonly at: number;
  /** Slurm's own remarks, such as fields it ignored. */
  readonly warnings: readonly string[];
}

/** Only the options that are set, to spread into a call. */
export function callOptions(options: CallOptions | undefined): CallOptions {
  return {
    ...(options?.signal && { signal: options.signal }),
    ...(options?.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  };
}
