/** /openapi/v3 (the index and one document per version) and /openapi/v2, as far as clients read them. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../api/types.ts';
import type { Answer } from '../resource/answer.ts';
import { apiGroups } from '../resource/api-versions.ts';
import type { Registry } from '../resource/registry.ts';
import { release, versionDocumentV3 } from './openapi-document.ts';

/** Documents are made once per state of the registry. */
const made = new WeakMap<Registry, { generation: number; documents: Map<string, string> }>();

export function openApiAnswer(
  registry: Registry,
  path: string,
  accept: string | undefined,
): Answer | undefined {
  if (path === '/openapi/v3')
    return {
      type: 'text',
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      text: JSON.stringify(index(registry)),
    };
  if (path === '/openapi/v2') return v2(registry, accept);
  if (!path.startsWith('/openapi/v3/')) return undefined;
  const name = path.slice('/openapi/v3/'.length);
  if (!names(registry).includes(name)) return undefined;
  return { type: 'text', status: 200, contentType: 'application/json', text: document(registry, name) };
}

function names(registry: Registry): string[] {
  const groups = apiGroups(registry).flatMap(({ name, versions }) => [
    `apis/${name}`,
    ...versions.map((version) => `apis/${name}/${version}`),
  ]);
  const fixed = ['.well-known/openid-configuration', 'api', 'api/v1', 'apis', 'openid/v1/jwks', 'version'];
  return [...fixed, ...groups].toSorted();
}

/** Built-in documents never change; those of custom groups do with their definitions. */
function index(registry: Registry): JsonObject {
  const paths: JsonObject = {};
  for (const name of names(registry)) {
    const content = isCustom(registry, name) ? document(registry, name) : `${release.gitVersion}/${name}`;
    const hash = createHash('sha256').update(content).digest('hex').toUpperCase();
    paths[name] = { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` };
  }
  return { paths };
}

function isCustom(registry: Registry, name: string): boolean {
  const [, group] = name.split('/');
  return registry.all().some((definition) => definition.custom && definition.group === group);
}

function document(registry: Registry, name: string): string {
  let known = made.get(registry);
  if (known?.generation !== registry.generation) {
    known = { generation: registry.generation, documents: new Map() };
    made.set(registry, known);
  }
  let text = known.documents.get(name);
  if (text === undefined) {
    text = JSON.stringify(documentOf(registry, name));
    known.documents.set(name, text);
  }
  return text;
}

function documentOf(registry: Registry, name: string): JsonObject {
  const [head, first, second] = name.split('/');
  if (head === 'api' && first !== undefined) return versionDocumentV3(registry, '', first);
  if (head === 'apis' && first !== undefined && second !== undefined)
    return versionDocumentV3(registry, first, second);
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: `${release.major}.${release.minor}` },
    paths: {},
  };
}

/** One document for everything. Clients that want it as protobuf are told that there is none. */
function v2(registry: Registry, accept: string | undefined): Answer {
  if (accept !== undefined && !/application\/json|\*\/\*/.test(accept))
    return {
      type: 'text',
      status: 406,
      contentType: 'text/plain; charset=utf-8',
      text: 'only application/json is served at /openapi/v2\n',
    };
  const versions: (readonly [string, string])[] = [
    ['', 'v1'],
    ...apiGroups(registry).flatMap(({ name, versions: each }) =>
      each.map((version) => [name, version] as const),
    ),
  ];
  const definitions: JsonObject = {};
  const paths: JsonObject = {};
  for (const [group, version] of versions) {
    const one = versionDocumentV3(registry, group, version) as {
      paths: JsonObject;
      components: { schemas: JsonObject };
    };
    Object.assign(paths, one.paths);
    Object.assign(definitions, one.components.schemas);
  }
  const text = JSON.stringify({
    swagger: '2.0',
    info: { title: 'Kubernetes', version: release.gitVersion },
    paths,
    definitions,
  }).replaceAll('"#/components/schemas/', '"#/definitions/');
  return { type: 'text', status: 200, contentType: 'application/json', text };
}
