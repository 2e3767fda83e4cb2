/** Whether a user may do what a request asks. */
import type { IncomingHttpHeaders } from 'node:http';
import type { UserInfo } from '../api/types.ts';

export interface AuthorizationAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  /** Set for requests on resources. */
  readonly resource?: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  };
  /** The path of a request that is not on a resource. */
  readonly path: string;
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision>;
  /** The user that Impersonate-* headers ask for, the same one without them, or undefined when that is not allowed. */
  impersonate(user: UserInfo, headers: IncomingHttpHeaders): UserInfo | undefined;
}
