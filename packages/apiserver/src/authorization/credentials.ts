/** Who asks: from the client certificate or the bearer token of a request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { PeerCertificate } from 'node:tls';
import type { UserInfo } from '../api/types.ts';

export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** The client's certificate; `refused` when it was not signed by the server's CA or is not in date. */
  readonly certificate: PeerCertificate | 'refused' | undefined;
}

/** What a token proves: a user for some of the audiences asked for, or nothing. */
export type TokenCheck =
  | { readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly fault: string };

export interface Authenticator {
  /** The user (system:anonymous without credentials); throws a 401 ApiError for bad ones. */
  authenticate(credentials: Credentials): UserInfo | Promise<UserInfo>;
  /** Reads a service account token; without audiences it must be meant for the API server itself. */
  checkToken(token: string, audiences: readonly string[]): TokenCheck;
  /** Signs the claims of a service account token. */
  signToken(claims: object): string;
}
