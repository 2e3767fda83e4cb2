/** One request on its way through the pipeline. */
import type { IncomingHttpHeaders } from 'node:http';
import type { ApiError } from '../api/errors.ts';
import type { RequestInfo } from '../api/request-info.ts';
import type { UserInfo } from '../api/types.ts';
import type { ServerParts } from './server-parts.ts';

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
