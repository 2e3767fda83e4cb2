/** Which requests a fault concerns. */
import type { RequestContext } from '../resource/request-context.ts';

/** Every given field must be equal; all requests when nothing is given. */
export interface FaultScope {
  /** get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb?: string | readonly string[];
  /** Plural name. */
  readonly resource?: string;
  readonly subresource?: string;
  readonly group?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** The User-Agent begins with this. */
  readonly userAgent?: string;
  /** Ends after this many requests. */
  readonly times?: number;
}

export function concerns(scope: FaultScope, { info, user, userAgent }: RequestContext): boolean {
  const same = (wanted: string | undefined, actual: string) => wanted === undefined || wanted === actual;
  return (
    (scope.verb === undefined || [scope.verb].flat().includes(info.verb)) &&
    same(scope.resource, info.plural) &&
    same(scope.subresource, info.subresource) &&
    same(scope.group, info.group) &&
    same(scope.namespace, info.namespace) &&
    same(scope.name, info.name) &&
    same(scope.user, user.name) &&
    userAgent.startsWith(scope.userAgent ?? '')
  );
}
