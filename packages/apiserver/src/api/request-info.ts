/** What a path and method mean: verb, resource, namespace, name. */
import { badRequest } from './errors.ts';

/** Only "false" and "0" are false; any other value, the empty one too, is true. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** 0 when it is not given. */
export function wholeNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (text === '') return 0;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = BigInt(text);
  if (value >= 2n ** 63n || value < -(2n ** 63n))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  return Number(value);
}

export interface RequestInfo {
  /** get, list, watch, create, update, patch, delete, deletecollection; the lower-case method off resources. */
  readonly verb: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** More path segments than a subresource has: proxy paths and nonsense. */
  readonly rest: string;
}

const byMethod: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const namespaceSubresources = new Set(['status', 'finalize']);

export function requestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  const off: RequestInfo = {
    verb: method.toLowerCase(),
    isResource: false,
    group: '',
    version: '',
    plural: '',
    subresource: '',
    namespace: '',
    name: '',
    rest: '',
  };
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') return off;
  const group = core ? '' : (parts[1] ?? '');
  const version = (core ? parts[1] : parts[2]) ?? '';
  let rest = parts.slice(core ? 2 : 3);
  if (rest.length === 0) return { ...off, group, version };
  let verb = byMethod[method] ?? method.toLowerCase();
  let watching = false;
  if (rest[0] === 'watch' && rest.length > 1) {
    watching = true;
    rest = rest.slice(1);
  }
  let namespace = '';
  if (
    rest[0] === 'namespaces' &&
    rest.length > 2 &&
    !(rest.length === 3 && namespaceSubresources.has(rest[2] ?? ''))
  ) {
    namespace = rest[1] ?? '';
    rest = rest.slice(2);
  }
  const [plural = '', name = '', subresource = '', ...tail] = rest;
  // A namespace object is in itself, which is what authorization and namespace lifecycle look at.
  if (plural === 'namespaces' && group === '' && namespace === '') namespace = name;
  if (verb === 'get' && (watching || isTrue(query.get('watch')))) verb = 'watch';
  else if (verb === 'get' && name === '') verb = 'list';
  else if (verb === 'delete' && name === '') verb = 'deletecollection';
  return {
    verb,
    isResource: true,
    group,
    version,
    plural,
    subresource,
    namespace,
    name,
    rest: tail.join('/'),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
