/** Asks the API server who sends a request and whether they may: so that metrics have the cluster's own permissions. */
import { hash } from 'node:crypto';
import type { Client } from '../client/client.ts';
import { type Clock, systemClock } from '../clock.ts';
import { explain } from '../errors.ts';
import { type Log, silent } from '../log.ts';
import type { KubeObject } from '../object.ts';
import { defineResource } from '../resource.ts';
import type { StatusAnswer, StatusRequest } from './status-server.ts';

interface TokenReview extends KubeObject {
  spec: { token: string };
  status?: {
    authenticated?: boolean;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
  };
}

interface SubjectAccessReview extends KubeObject {
  spec: {
    user?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
    nonResourceAttributes: { path: string; verb: string };
  };
  status?: { allowed?: boolean };
}

const tokenReviews = defineResource<TokenReview>({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
});
const accessReviews = defineResource<SubjectAccessReview>({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
});

/** How long an answer is believed: scrapes come every few seconds, with the same token. */
const BELIEVED = { yes: 60_000, no: 10_000 };
const MOST = 256;

export class AccessReviewer {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #known = new Map<string, { readonly answer: StatusAnswer | undefined; readonly until: number }>();

  /** The client must not be guarded by leadership: every replica is scraped. */
  constructor(client: Client, environment: { clock?: Clock; log?: Log } = {}) {
    this.#client = client;
    this.#clock = environment.clock ?? systemClock;
    this.#log = environment.log ?? silent;
  }

  /** Undefined: they may. Else what to answer instead. */
  async refusal({ authorization = '', path }: StatusRequest): Promise<StatusAnswer | undefined> {
    const token = /^Bearer (\S+)$/i.exec(authorization)?.[1];
    if (token === undefined) return { status: 401, text: 'send a bearer token of the cluster\n' };
    const key = hash('sha256', `${path} ${token}`);
    const known = this.#known.get(key);
    if (known !== undefined && known.until > this.#clock.monotonic()) return known.answer;
    try {
      const answer = await this.#review(token, path);
      const until = this.#clock.monotonic() + (answer === undefined ? BELIEVED.yes : BELIEVED.no);
      this.#known.delete(key);
      this.#known.set(key, { answer, until });
      for (const oldest of this.#known.keys()) {
        if (this.#known.size <= MOST) break;
        this.#known.delete(oldest);
      }
      return answer;
    } catch (error) {
      this.#log.warn({ reason: explain(error) }, 'cannot find out who may read metrics');
      return { status: 503, text: 'the API server does not say whether you may\n' };
    }
  }

  async #review(token: string, path: string): Promise<StatusAnswer | undefined> {
    const { status } = await this.#client.create(tokenReviews, {
      apiVersion: tokenReviews.apiVersion,
      kind: tokenReviews.kind,
      spec: { token },
    } as never);
    if (status?.authenticated !== true) return { status: 401, text: 'the token is not valid\n' };
    const { username, uid, groups, extra } = status.user ?? {};
    const review = await this.#client.create(accessReviews, {
      apiVersion: accessReviews.apiVersion,
      kind: accessReviews.kind,
      spec: {
        ...(username === undefined ? {} : { user: username }),
        ...(uid === undefined ? {} : { uid }),
        ...(groups === undefined ? {} : { groups: [...groups] }),
        ...(extra === undefined ? {} : { extra }),
        nonResourceAttributes: { path, verb: 'get' },
      },
    } as never);
    if (review.status?.allowed === true) return undefined;
    return { status: 403, text: `${username ?? 'you'} may not get ${path}\n` };
  }
}
