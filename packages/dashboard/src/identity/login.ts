/** How a browser becomes a user: with a token of Kubernetes, or through a proxy that has already asked. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ReviewedUser } from '@slurm-operator/kube';
import type { Clock } from '@slurm-operator/slurm';
import type { Session, Sessions } from './sessions.ts';

export interface ProxyOptions {
  /** The proxy proves itself with this header; its value is at least 32 characters long. */
  readonly secretHeader: string;
  readonly secret: string;
  readonly userHeader: string;
  readonly groupsHeader: string;
}

export interface LoginOptions {
  readonly sessions: Sessions;
  readonly review: (token: string, signal: AbortSignal) => Promise<ReviewedUser | undefined>;
  /** When a token ends, as it says itself; `undefined` if it does not say. */
  readonly expiryOf: (token: string) => number | undefined;
  readonly clock: Clock;
  readonly proxy?: ProxyOptions;
}

export type LoginResult =
  | { readonly kind: 'done'; readonly sessionId: string; readonly user: string }
  | { readonly kind: 'refused'; readonly status: number; readonly why: string };

/** Wrong tokens from one address before it has to wait, and for how long. */
const mostFailures = 10;
const failureWindowMs = 60_000;
const mostAddresses = 10_000;
const shortestSecret = 32;
/** Of a stream: then the proxy is asked again. */
const proxySessionMs = 15 * 60_000;

export class Login {
  readonly #options: LoginOptions;
  readonly #failures = new Map<string, { readonly since: number; readonly count: number }>();

  constructor(options: LoginOptions) {
    if (options.proxy !== undefined && options.proxy.secret.length < shortestSecret)
      throw new Error(
        `the secret that the proxy sends in ${options.proxy.secretHeader} must have at least ${shortestSecret} characters`,
      );
    this.#options = options;
  }

  async withToken(
    body: Readonly<Record<string, unknown>>,
    from: string,
    signal: AbortSignal,
  ): Promise<LoginResult> {
    const { sessions, review, expiryOf } = this.#options;
    const refused = (status: number, why: string): LoginResult => ({ kind: 'refused', status, why });
    const { token } = body;
    if (typeof token !== 'string' || !/^\S{1,16384}$/.test(token.trim()))
      return refused(400, 'Paste a token of the cluster: kubectl create token NAME prints one.');
    if (this.#isBlocked(from)) return refused(429, 'Too many wrong tokens. Wait a minute.');
    const user = await review(token.trim(), signal);
    if (user === undefined) {
      this.#countFailure(from);
      return refused(401, 'Kubernetes does not accept this token. It may have expired.');
    }
    const sessionId = sessions.begin(user, token.trim(), expiryOf(token.trim()));
    return { kind: 'done', sessionId, user: user.username };
  }

  /** Headers of users count only beside the secret: anyone on the pod network can send the others. */
  byProxy(headers: IncomingHttpHeaders, _from: string): Session | undefined {
    const { proxy, clock } = this.#options;
    if (proxy === undefined) return undefined;
    if (!sameSecret(headerOf(headers, proxy.secretHeader), proxy.secret)) return undefined;
    const username = headerOf(headers, proxy.userHeader);
    // Two headers of one name are joined with a comma: one of them came from the browser.
    if (!/^[^\s,]{1,253}$/.test(username)) return undefined;
    const groups = headerOf(headers, proxy.groupsHeader)
      .split(',')
      .map((group) => group.trim())
      .filter((group) => group !== '' && !group.startsWith('system:'));
    // A proxy for people has no business with the accounts of Kubernetes itself.
    if (username.startsWith('system:')) return undefined;
    return {
      user: { username, groups: [...groups, 'system:authenticated'] },
      bearer: undefined,
      expiresAt: clock.now() + proxySessionMs,
      viaProxy: true,
    };
  }

  #isBlocked(from: string): boolean {
    const known = this.#failures.get(from);
    const age = this.#options.clock.now() - (known?.since ?? 0);
    return known !== undefined && age >= 0 && age < failureWindowMs && known.count >= mostFailures;
  }

  #countFailure(from: string): void {
    const now = this.#options.clock.now();
    const known = this.#failures.get(from);
    const isRecent = known !== undefined && now - known.since < failureWindowMs && now >= known.since;
    this.#failures.delete(from);
    this.#failures.set(from, isRecent ? { ...known, count: known.count + 1 } : { since: now, count: 1 });
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= mostAddresses) break;
      this.#failures.delete(oldest);
    }
  }
}

function headerOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : '';
}

function sameSecret(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
