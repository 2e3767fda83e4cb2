/** How many requests are served: of everyone together, and of each user. Time is an argument. */

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

export interface LimitOptions {
  /** Requests at once after a pause. */
  readonly burst: number;
  /** Requests per second in the long run. */
  readonly perSecond: number;
}

/** Users that are remembered; the least recently seen one is forgotten first. */
const mostUsers = 10_000;

export class RequestLimits {
  readonly #all: LimitOptions;
  readonly #each: LimitOptions;
  #everyone: Bucket | undefined;
  readonly #users = new Map<string, Bucket>();

  constructor(all: LimitOptions, each: LimitOptions) {
    this.#all = all;
    this.#each = each;
  }

  /** Milliseconds until the next request may be made; 0: this one may. Before it is known who asks. */
  waitOfAll(now: number): number {
    const { bucket, wait } = take(this.#everyone, this.#all, now);
    this.#everyone = bucket;
    return wait;
  }

  waitOf(user: string, now: number): number {
    const { bucket, wait } = take(this.#users.get(user), this.#each, now);
    this.#users.delete(user);
    this.#users.set(user, bucket);
    for (const oldest of this.#users.keys()) {
      if (this.#users.size <= mostUsers) break;
      this.#users.delete(oldest);
    }
    return wait;
  }
}

/** A clock that was set back refills nothing, and blocks nothing. */
function take(
  known: Bucket | undefined,
  { burst, perSecond }: LimitOptions,
  now: number,
): { readonly bucket: Bucket; readonly wait: number } {
  const passed = known === undefined ? 0 : Math.max(0, now - known.at) / 1000;
  const tokens = Math.min(burst, (known?.tokens ?? burst) + passed * perSecond);
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, at: now }, wait: 0 };
  return { bucket: { tokens, at: now }, wait: Math.ceil(((1 - tokens) / perSecond) * 1000) };
}
