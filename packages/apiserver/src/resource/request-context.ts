/** One request on its way through the pipeline. */
import type { IncomingHttpHeaders } from 'node:http';
import type { KeyPair } from '@slurm-operator/kubernetes-values';
import type { ApiError } from '../api/errors.ts';
import type { RequestInfo } from '../api/request-info.ts';
import type { ServerEnvironment, UserInfo } from '../api/types.ts';
import type { Authenticator } from '../authorization/authenticator.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { Store } from '../store/store.ts';
import type { Registry } from './registry.ts';

/** What parts of the server read in place of the store and the registry when a test makes them late. */
export interface Caches {
  /** Read by the authorizer and by admission. */
  readonly configuration: Store;
  /** Read by what serves custom resources. */
  readonly definitions: Store;
  /** Read by discovery. */
  readonly registry: Registry;
}

export interface ServerParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly environment: ServerEnvironment;
  /** The server's own certificate authority. */
  readonly authority: KeyPair;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly caches?: Caches;
}

export interface RequestContext {
  readonly info: RequestInfo;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** After impersonation. */
  readonly user: UserInfo;
  readonly userAgent: string;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /** Texts for `Warning: 299 - "…"` headers; push to add one. */
  readonly warnings: string[];
  /** What admission notes for the audit log, by `webhook/key`. */
  readonly annotations: Record<string, string>;
  readonly parts: ServerParts;
  /** Set by a fault: reads are answered from this old state. */
  readAt?: number;
  /** Set by a fault: a watch with initial events gets an ERROR event in their place. */
  refusesInitialEvents?: boolean;
  /** Set by a fault: a watch gets this as an ERROR event and ends. */
  watchFault?: ApiError;
  /** The whole body; 413 past the limit. */
  body(): Promise<Buffer>;
}
