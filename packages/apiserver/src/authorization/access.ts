/** Who asks, as whom, and whether they may: what every request passes before anything else happens. */
import type { IncomingMessage } from 'node:http';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { ApiError, forbidden } from '../api/errors.ts';
import type { RequestInfo } from '../api/request-info.ts';
import type { UserInfo } from '../api/types.ts';
import type { Authenticator } from './authenticator.ts';
import type { Authorizer } from './authorizer.ts';

export interface AccessRequest {
  readonly parts: { readonly authenticator: Authenticator; readonly authorizer: Authorizer };
  readonly info: RequestInfo;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** `became` hears of every user the request turns out to be, also when it is refused afterwards. */
export function grantAccess(
  request: IncomingMessage,
  access: AccessRequest,
  became: (user: UserInfo) => void,
): void {
  const { parts, info } = access;
  const user = parts.authenticator.authenticate({
    headers: request.headers,
    certificate: clientCertificate(request),
  });
  became(user);
  const actor = parts.authorizer.impersonate(user, request.headers);
  if (actor === undefined) throw refusal(access, user, `impersonate-on:user-info:${info.verb}`);
  became(actor);
  const decision = parts.authorizer.authorize({
    user: actor,
    verb: info.verb,
    path: access.path,
    ...(info.isResource ? { resource: { ...info, name: nameOf(access) } } : {}),
  });
  if (!decision.allowed) throw refusal(access, actor, info.verb);
}

/** For requests that turn out to need another right than their own verb: apply and replace that create. */
export function requireRight(request: AccessRequest & { readonly user: UserInfo }, verb: string): void {
  const { parts, info, path, user } = request;
  const { allowed } = parts.authorizer.authorize({ user, verb, path, resource: info });
  if (!allowed) throw refusal(request, user, verb);
}

/** The one object a request is about: by its path, or by a field selector that names it. */
function nameOf({ info, query }: AccessRequest): string {
  if (info.name !== '') return info.name;
  return /^metadata\.name==?([^,!=]+)$/.exec(query.get('fieldSelector') ?? '')?.[1] ?? '';
}

function refusal(access: AccessRequest, user: UserInfo, verb: string): ApiError {
  const { info, path } = access;
  if (!info.isResource)
    return new ApiError(403, 'Forbidden', `forbidden: User "${user.name}" cannot ${verb} path "${path}"`, {
      details: {},
    });
  const what = info.subresource === '' ? info.plural : `${info.plural}/${info.subresource}`;
  const where = info.namespace === '' ? 'at the cluster scope' : `in the namespace "${info.namespace}"`;
  return forbidden(
    { group: info.group, resource: info.plural },
    nameOf(access),
    `User "${user.name}" cannot ${verb} resource "${what}" in API group "${info.group}" ${where}`,
  );
}

const certificates = new WeakMap<TLSSocket, PeerCertificate>();

/** Read once per connection: it cannot change, and decoding it costs as much as a small request. */
function clientCertificate(request: IncomingMessage): PeerCertificate | 'refused' | undefined {
  const socket = request.socket as TLSSocket;
  const certificate = certificates.get(socket) ?? socket.getPeerCertificate();
  certificates.set(socket, certificate);
  if (!('subject' in certificate)) return undefined;
  return socket.authorized ? certificate : 'refused';
}
