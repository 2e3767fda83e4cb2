/** Who asks: from the client certificate or the bearer token of a request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { PeerCertificate } from 'node:tls';
import type { UserInfo } from '../types.ts';

export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** The client's certificate, only when it was signed by the server's CA and is in date. */
  readonly certificate: PeerCertificate | undefined;
}

export interface Authenticator {
  /** The user (system:anonymous without credentials); throws a 401 ApiError for bad ones. */
  authenticate(credentials: Credentials): UserInfo | Promise<UserInfo>;
}
