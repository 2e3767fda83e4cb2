/** One OpenAPI v3 document: the paths and schemas of a group version. */
import type { JsonObject } from '../api/types.ts';
import type { Registry } from '../resource/registry.ts';
import type { ResourceDefinition, Subresource } from '../resource/resource-definition.ts';
import { SchemaComponents } from './schema-components.ts';

/** /version: the release whose behaviour this server stands in for. */
export const release = { major: '1', minor: '36', gitVersion: 'v1.36.4' } as const;

export function versionDocument(): JsonObject {
  const { major, minor, gitVersion } = release;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `${gitVersion}+embedded`,
    gitCommit: 'embedded',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function versionDocumentV3(registry: Registry, group: string, version: string): JsonObject {
  const definitions = registry.all().filter((each) => each.group === group && each.version === version);
  const isCustom = definitions.some((definition) => definition.custom);
  const components = new SchemaComponents(isCustom);
  const paths: JsonObject = {};
  for (const definition of definitions) {
    components.addKind(definition);
    Object.assign(paths, pathsOf(definition, components));
  }
  return {
    openapi: '3.0.0',
    info: isCustom
      ? { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }
      : { title: 'Kubernetes', version: `${release.major}.${release.minor}` },
    paths,
    components: { schemas: components.schemas() },
  };
}

function pathsOf(definition: ResourceDefinition, components: SchemaComponents): JsonObject {
  const { group, version, plural, namespaced } = definition;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const paths: JsonObject = {
    [collection]: operations(definition, definition.verbs, collectionVerbs, definition, components),
  };
  if (namespaced && definition.verbs.includes('list'))
    paths[`${root}/${plural}`] = operations(definition, ['list'], collectionVerbs, definition, components);
  if (definition.verbs.includes('get'))
    paths[`${collection}/{name}`] = operations(
      definition,
      definition.verbs,
      objectVerbs,
      definition,
      components,
    );
  for (const [name, subresource] of Object.entries(definition.subresources)) {
    const kind = kindOf(definition, subresource);
    components.addNamed(kind);
    paths[`${collection}/{name}/${name}`] = operations(
      definition,
      subresource.verbs,
      objectVerbs,
      kind,
      components,
    );
  }
  return paths;
}

function kindOf(definition: ResourceDefinition, subresource: Subresource): Kind {
  return subresource.type === 'part' ? definition : subresource.kind;
}

const collectionVerbs: Readonly<Record<string, readonly [method: string, action: string]>> = {
  list: ['get', 'list'],
  create: ['post', 'post'],
  deletecollection: ['delete', 'deletecollection'],
};

const objectVerbs: Readonly<Record<string, readonly [method: string, action: string]>> = {
  get: ['get', 'get'],
  update: ['put', 'put'],
  patch: ['patch', 'patch'],
  delete: ['delete', 'delete'],
  create: ['post', 'post'],
};

/** Query parameters by action. Clients look here to learn what a server can do. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  get: ['pretty'],
  list: [
    'allowWatchBookmarks',
    'continue',
    'fieldSelector',
    'labelSelector',
    'limit',
    'resourceVersion',
    'watch',
  ],
  post: ['dryRun', 'fieldManager', 'fieldValidation'],
  put: ['dryRun', 'fieldManager', 'fieldValidation'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  delete: ['dryRun', 'gracePeriodSeconds', 'propagationPolicy'],
  deletecollection: ['dryRun', 'fieldSelector', 'labelSelector', 'propagationPolicy'],
};

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];

function operations(
  definition: ResourceDefinition,
  verbs: readonly string[],
  methods: Readonly<Record<string, readonly [string, string]>>,
  kind: Kind,
  components: SchemaComponents,
): JsonObject {
  const found: JsonObject = {};
  for (const verb of verbs) {
    const method = methods[verb];
    if (method === undefined) continue;
    const [name, action] = method;
    const content = { 'application/json': { schema: components.refTo(kind) } };
    const types = definition.custom ? patchTypes : [...patchTypes, 'application/strategic-merge-patch+json'];
    found[name] = {
      parameters: (parameters[action] ?? []).map((each) => ({
        name: each,
        in: 'query',
        schema: { type: 'string' },
      })),
      ...(action === 'post' || action === 'put' ? { requestBody: { content } } : {}),
      ...(action === 'patch'
        ? {
            requestBody: {
              content: Object.fromEntries(types.map((type) => [type, { schema: components.patch() }])),
              required: true,
            },
          }
        : {}),
      responses: { '200': { description: 'OK', content } },
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
    };
  }
  return found;
}
