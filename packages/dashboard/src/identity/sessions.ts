/**
 * Who is logged in. Sessions live in the memory of the server and nowhere else: the cookie is a random number, so a stolen one
 * is worth nothing after a logout, and no key has to be kept. After a restart of the server people log in once more.
 */
import { hash, randomBytes } from 'node:crypto';
import type { ReviewedUser } from '@slurm-operator/kube';
import type { Clock } from '@slurm-operator/slurm';

export interface Session {
  readonly user: ReviewedUser;
  /** The user's own token of Kubernetes, to get a Slurm token with; it never leaves the server. `undefined` behind a proxy. */
  readonly bearer: string | undefined;
  readonly expiresAt: number;
  /** A proxy says with every request who it is: there is no cookie. */
  readonly viaProxy?: boolean;
}

/** Whose stream it is, and how long it may go on. */
export interface StreamOwner {
  readonly user: string;
  /** The end of the session. */
  readonly expiresAt?: number;
  /** Asked again every few beats: a stream outlives the request that opened it, and rights may end. */
  readonly mayGoOn?: () => Promise<boolean>;
}

export interface SessionsOptions {
  readonly clock: Clock;
  /** Default 8 hours. */
  readonly lifetimeMs?: number;
  /** Default 10,000 in all, 20 of one user; the oldest one ends first. */
  readonly most?: number;
  readonly mostOfUser?: number;
}

const idBytes = 32;

export class Sessions {
  readonly #options: Required<SessionsOptions>;
  /** By digest: a dump of the memory or a comparison of keys does not give a cookie away. */
  readonly #sessions = new Map<string, Session>();

  constructor(options: SessionsOptions) {
    this.#options = { lifetimeMs: 8 * 3_600_000, most: 10_000, mostOfUser: 20, ...options };
  }

  /** The value of the cookie. `endsAt`: when the user's token ends, if that is known. */
  begin(user: ReviewedUser, bearer: string | undefined, endsAt = Number.POSITIVE_INFINITY): string {
    const { clock, lifetimeMs, most, mostOfUser } = this.#options;
    this.#removeExpired();
    const own = [...this.#sessions].filter(([, session]) => session.user.username === user.username);
    for (const [key] of own.slice(0, Math.max(0, own.length - mostOfUser + 1))) this.#sessions.delete(key);
    for (const key of this.#sessions.keys()) {
      if (this.#sessions.size < most) break;
      this.#sessions.delete(key);
    }
    const id = randomBytes(idBytes).toString('base64url');
    const expiresAt = Math.min(clock.now() + lifetimeMs, endsAt);
    this.#sessions.set(digest(id), { user, bearer, expiresAt });
    return id;
  }

  find(id: string): Session | undefined {
    const session = this.#sessions.get(digest(id));
    if (session === undefined || session.expiresAt <= this.#options.clock.now()) return undefined;
    return session;
  }

  end(id: string): Session | undefined {
    const session = this.#sessions.get(digest(id));
    this.#sessions.delete(digest(id));
    return session;
  }

  get size(): number {
    return this.#sessions.size;
  }

  #removeExpired(): void {
    const now = this.#options.clock.now();
    for (const [key, { expiresAt }] of this.#sessions) if (expiresAt <= now) this.#sessions.delete(key);
  }
}

const digest = (id: string) => hash('sha256', id);
