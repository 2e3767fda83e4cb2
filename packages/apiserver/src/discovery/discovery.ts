/** Requests that are not on a resource: what there is, how it is shaped, and whether the server is healthy. */

import { ApiError } from '../api/errors.ts';
import { untyped } from '../api/typed.ts';
import type { JsonObject } from '../api/types.ts';
import type { Answer } from '../resource/answer.ts';
import { apiGroups, isBuiltinGroup } from '../resource/api-versions.ts';
import type { Registry } from '../resource/registry.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { healthAnswer, healthPaths } from './health.ts';
import { openApiAnswer } from './openapi.ts';
import { versionDocument } from './openapi-document.ts';
import {
  aggregatedDocument,
  groupDocument,
  groupListDocument,
  resourceListDocument,
} from './resource-documents.ts';

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** The answer, or undefined when the path is not one of these. */
export function discover(context: RequestContext): Answer | undefined {
  const { path, query, headers, info } = context;
  const registry = context.parts.caches?.registry ?? context.parts.registry;
  const plain = path.length > 1 ? path.replace(/\/$/, '') : path;
  const health = healthAnswer(plain, query);
  if (health) return health;
  switch (plain) {
    case '/':
      return json({ paths: rootPaths(registry) });
    case '/version':
      return json(versionDocument());
    case '/api':
    case '/apis': {
      const isCore = plain === '/api';
      if (wantsAggregated(headers.accept))
        return {
          type: 'text',
          status: 200,
          contentType: aggregatedType,
          text: JSON.stringify(aggregatedDocument(registry, isCore)),
        };
      if (!isCore) return json(groupListDocument(registry));
      const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: headers.host ?? '' }];
      return json({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: addresses });
    }
    default:
  }
  const openApi = openApiAnswer(registry, plain, headers.accept);
  if (openApi) return openApi;
  if (info.isResource) return undefined;
  if (plain === '/api/v1') return json(resourceListDocument(registry, '', 'v1'));
  const group = apiGroups(registry).find(({ name }) => name === info.group);
  if (!group || !plain.startsWith('/apis/')) return undefined;
  if (info.version === '') return json({ kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) });
  if (!group.versions.includes(info.version)) {
    // A group of the server itself knows what it has; one of custom resources is just not there.
    if (isBuiltinGroup(group.name)) throw noSuchResource();
    return undefined;
  }
  return json(resourceListDocument(registry, group.name, info.version));
}

function noSuchResource(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', { details: {} });
}

/** The first form the client lists that there is. */
function wantsAggregated(accept: string | undefined): boolean {
  for (const form of (accept ?? '').split(',')) {
    const parameters = form.split(';').map((part) => part.trim());
    if (parameters.includes('as=APIGroupDiscoveryList')) {
      if (parameters.includes('v=v2') && parameters[0] === 'application/json') return true;
    } else if (parameters[0] === 'application/json' || parameters[0] === '*/*') return false;
  }
  return false;
}

function rootPaths(registry: Registry): string[] {
  const groups = apiGroups(registry).flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map((version) => `/apis/${name}/${version}`),
  ]);
  const others = [
    '/.well-known/openid-configuration',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/',
    '/flagz',
    '/metrics',
    '/metrics/slis',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/',
    '/openid/v1/jwks',
    '/statusz',
    '/version',
  ];
  return [...others, ...groups, ...healthPaths()].toSorted();
}

function json(document: JsonObject): Answer {
  return { type: 'object', status: 200, object: untyped(document) };
}
