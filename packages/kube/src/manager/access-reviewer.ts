/** Authenticates and authorizes requests with TokenReview and SubjectAccessReview, so that RBAC protects the metrics. */
import { hash } from 'node:crypto';
import type { Client } from '../client/client.ts';
import { reviewAccess, reviewToken } from '../client/reviews.ts';
import { type Clock, systemClock } from '../clock.ts';
import { explain } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import type { StatusAnswer, StatusRequest } from './status-server.ts';

/** How long a result is cached, in milliseconds: scrapes come every few seconds with the same token. */
const CACHE_TTL = { yes: 60_000, no: 10_000 };
const MAX_CACHED = 256;
/** Less than the usual scrape timeout. */
const REVIEW_TIMEOUT = 5_000;

export class AccessReviewer {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #known = new Map<string, { readonly answer: StatusAnswer | undefined; readonly until: number }>();

  /** Pass the unguarded client: every replica is scraped, not only the leader. */
  constructor(client: Client, environment: { clock?: Clock; log?: Log } = {}) {
    this.#client = client;
    this.#clock = environment.clock ?? systemClock;
    this.#log = environment.log ?? silent;
  }

  /** Undefined if the request is allowed, else the error response. */
  async refusal({ authorization = '', path }: StatusRequest): Promise<StatusAnswer | undefined> {
    const token = /^Bearer (\S+)$/i.exec(authorization)?.[1];
    if (token === undefined) return { status: 401, text: 'a bearer token of the cluster is required\n' };
    const key = hash('sha256', `${path} ${token}`);
    const known = this.#known.get(key);
    if (known !== undefined && known.until > this.#clock.monotonic()) return known.answer;
    try {
      const answer = await this.#review(token, path);
      const until = this.#clock.monotonic() + (answer === undefined ? CACHE_TTL.yes : CACHE_TTL.no);
      this.#known.delete(key);
      this.#known.set(key, { answer, until });
      for (const oldest of this.#known.keys()) {
        if (this.#known.size <= MAX_CACHED) break;
        this.#known.delete(oldest);
      }
      return answer;
    } catch (error) {
      this.#log.warn({ reason: explain(error) }, 'cannot review access to metrics');
      return { status: 503, text: 'the API server could not review your access\n' };
    }
  }

  async #review(token: string, path: string): Promise<StatusAnswer | undefined> {
    const options = { timeout: REVIEW_TIMEOUT };
    const user = await reviewToken(this.#client, token, options);
    if (user === undefined) return { status: 401, text: 'the token is not valid\n' };
    const nonResourceAttributes = { path, verb: 'get' };
    if (await reviewAccess(this.#client, user, { nonResourceAttributes }, options)) return undefined;
    return { status: 403, text: `${user.username} may not get ${path}\n` };
  }
}
