/** serviceaccounts/token: a token of the account, for an audience, until a time, tied to a pod or secret if asked. */

import { badRequest, conflict, invalid, notFound } from '../../api/errors.ts';
import { invalidValue } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import { type KubeObject, timestamp } from '../../api/types.ts';
import { TOKEN_ISSUER, type TokenClaims } from '../../authorization/service-account-token.ts';
import { serviceAccountUsername } from '../../authorization/user-info.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import type { ActionSubresource } from '../../resource/resource-definition.ts';
import { admitActionObject, readActionObject } from './action-object.ts';

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MINIMUM_SECONDS = 600;

interface TokenRequest {
  readonly spec?: {
    readonly audiences?: readonly string[] | null;
    readonly expirationSeconds?: number | null;
    readonly boundObjectRef?: {
      readonly kind?: string;
      readonly name?: string;
      readonly uid?: string;
      readonly apiVersion?: string;
    } | null;
  };
}

export const token: ActionSubresource = {
  type: 'action',
  verbs: ['create'],
  kind: KIND,
  async handle(context, definition) {
    const { info, parts } = context;
    const account = parts.store.get('/serviceaccounts', info.namespace, info.name);
    if (account === undefined) throw notFound({ group: '', resource: 'serviceaccounts' }, info.name);
    const read = await readActionObject(context, definition, KIND);
    const request = await admitActionObject(context, definition, KIND, read);
    const spec = typed<TokenRequest>(request).spec ?? {};
    const seconds = spec.expirationSeconds ?? DEFAULT_SECONDS;
    const unfit = unfitExpiry(seconds);
    if (unfit !== undefined)
      throw invalid(KIND, '', [invalidValue('spec.expirationSeconds', seconds, unfit)]);
    const audiences = spec.audiences?.length ? spec.audiences : [TOKEN_ISSUER];
    const issued = Math.floor(parts.environment.now() / 1000);
    const claims: TokenClaims = {
      iss: TOKEN_ISSUER,
      sub: serviceAccountUsername(info.namespace, info.name),
      aud: audiences,
      iat: issued,
      nbf: issued,
      exp: issued + seconds,
      jti: parts.environment.uuid(),
      'kubernetes.io': {
        namespace: info.namespace,
        serviceaccount: { name: info.name, uid: account.metadata.uid ?? '' },
        ...boundClaims(context, spec.boundObjectRef ?? undefined),
      },
    };
    const object: KubeObject = {
      ...request,
      metadata: {
        name: info.name,
        namespace: info.namespace,
        ...(account.metadata.uid === undefined ? {} : { uid: account.metadata.uid }),
        creationTimestamp: timestamp(parts.environment.now()),
        ...(request.metadata.managedFields === undefined
          ? {}
          : { managedFields: request.metadata.managedFields }),
      },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
      status: {
        token: parts.authenticator.signToken(claims),
        expirationTimestamp: timestamp(claims.exp * 1000),
      },
    };
    return { type: 'object', status: 201, object };
  },
};

function unfitExpiry(seconds: number): string | undefined {
  if (seconds < MINIMUM_SECONDS) return 'may not specify a duration less than 10 minutes';
  return seconds > 2 ** 32 ? 'may not specify a duration larger than 2^32 seconds' : undefined;
}

type Bound = Partial<Pick<TokenClaims['kubernetes.io'], 'pod' | 'secret' | 'node'>>;

function boundClaims(
  context: RequestContext,
  reference: NonNullable<TokenRequest['spec']>['boundObjectRef'],
): Bound {
  if (!reference) return {};
  const { info, parts } = context;
  const { kind = '', name = '', uid } = reference;
  const resource = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' }[kind];
  if (resource === undefined)
    throw badRequest(`cannot bind token to object of type ${typeText(reference.apiVersion ?? '', kind)}`);
  const object = parts.store.get(`/${resource}`, kind === 'Node' ? undefined : info.namespace, name);
  if (object === undefined) throw notFound({ group: '', resource }, name);
  if (uid !== undefined && uid !== object.metadata.uid)
    throw conflict(
      { group: '', resource: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  const bound = { name, uid: object.metadata.uid ?? '' };
  if (kind === 'Node') return { node: bound };
  if (kind === 'Secret') return { secret: bound };
  const { spec } = typed<{ spec: { serviceAccountName?: string; nodeName?: string } }>(object);
  if (spec.serviceAccountName !== info.name)
    throw badRequest(
      `cannot bind token for serviceaccount "${info.name}" to pod running with different serviceaccount name.`,
    );
  const node = spec.nodeName ? parts.store.get('/nodes', undefined, spec.nodeName) : undefined;
  return {
    pod: bound,
    ...(node?.metadata.name === undefined
      ? {}
      : { node: { name: node.metadata.name, uid: node.metadata.uid ?? '' } }),
  };
}

/** A kind with its group and version, as the real server prints it: the core group is empty. */
function typeText(apiVersion: string, kind: string): string {
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
}
