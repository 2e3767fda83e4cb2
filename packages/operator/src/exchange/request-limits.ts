/**
 * How many requests are served: of everyone together, of each user, and of each address whose requests come to nothing. Time is an argument.
 */

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

/** Users and addresses that are remembered; the least recently seen one is forgotten first. */
const mostRemembered = 10_000;

export interface RequestLimitOptions {
  readonly all: LimitOptions;
  readonly each: LimitOptions;
  /** Requests of one address that Kubernetes knows no user of. */
  readonly failures: LimitOptions;
  /** The same for this machine: port-forwards of all people come from there. */
  readonly localFailures: LimitOptions;
}

export class RequestLimits {
  readonly #options: RequestLimitOptions;
  #everyone: Bucket | undefined;
  readonly #users = new Map<string, Bucket>();
  readonly #addresses = new Map<string, Bucket>();

  constructor(options: RequestLimitOptions) {
    this.#options = options;
  }

  /** Milliseconds until the next request may be made; 0: this one may. Before it is known who asks. */
  waitOfAll(now: number): number {
    const { bucket, wait } = take(this.#everyone, this.#options.all, now);
    this.#everyone = bucket;
    return wait;
  }

  waitOf(user: string, now: number): number {
    const { bucket, wait } = take(this.#users.get(user), this.#options.each, now);
    remember(this.#users, user, bucket);
    return wait;
  }

  /** Counts the request as one that comes to nothing; `giveBack` if it does not. Before anything of it is read. */
  waitOfAddress(address: string, now: number): number {
    const { bucket, wait } = take(this.#addresses.get(address), this.#failuresOf(address), now);
    remember(this.#addresses, address, bucket);
    return wait;
  }

  giveBack(address: string): void {
    const bucket = this.#addresses.get(address);
    if (bucket === undefined) return;
    const tokens = Math.min(this.#failuresOf(address).burst, bucket.tokens + 1);
    this.#addresses.set(address, { ...bucket, tokens });
  }

  #failuresOf(address: string): LimitOptions {
    return isLoopback(address) ? this.#options.localFailures : this.#options.failures;
  }
}

export const isLoopback = (address: string): boolean => /^(::1$|(::ffff:)?127\.)/.test(address);

function remember(buckets: Map<string, Bucket>, name: string, bucket: Bucket): void {
  buckets.delete(name);
  buckets.set(name, bucket);
  for (const oldest of buckets.keys()) {
    if (buckets.size <= mostRemembered) break;
    buckets.delete(oldest);
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
