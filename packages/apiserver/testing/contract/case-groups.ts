/** What a backend must have for a case: only an API server, controllers beside it, or controllers that mind nodes. */
import { type RecordedCase, topicOf } from './case.ts';

export type Tier = 'api' | 'controllers' | 'nodes';

export const tiers: readonly Tier[] = ['api', 'controllers', 'nodes'];

/** Cases about Nodes that are lost, or that pods name and that do not exist. */
const aboutNodes = /^controllers\/2[456]-/;

export function tierOf(recorded: RecordedCase): Tier {
  if (aboutNodes.test(recorded.name)) return 'nodes';
  return topicOf(recorded) === 'controllers' ? 'controllers' : 'api';
}

/**
 * Which recording a case comes from. The second set was recorded after this server was written, without a controller
 * manager except for the topic `controllers` and admission/34, so no controller writes a status in it.
 */
export type RecordedSet = 'first' | 'second';

/** The first number of each topic that belongs to the second set. */
const secondFrom: Readonly<Record<string, number>> = {
  crud: 42,
  patch: 21,
  apply: 41,
  'list-watch': 29,
  crd: 30,
  admission: 19,
  authz: 13,
  builtins: 29,
  controllers: 27,
  discovery: 10,
};

export function setOf(recorded: RecordedCase): RecordedSet {
  const number = Number(/\/(\d+)-/.exec(recorded.name)?.[1]);
  return number >= (secondFrom[topicOf(recorded)] ?? Number.POSITIVE_INFINITY) ? 'second' : 'first';
}

/** Writes that stay within the namespaces and example groups of the recordings, or that store nothing. */
const harmless = [
  /^\/apis?\/(?:[^/]+\/)?[^/]+\/namespaces\/(?!default\/|kube-)[^/]+\/./,
  /^\/apis\/apiextensions\.k8s\.io\/v1\/customresourcedefinitions(?:\/[^/]+\.example\.org)?$/,
  /^\/apis\/[^/]+\.example\.org\//,
  /^\/apis\/(?:authorization|authentication)\.k8s\.io\//,
  /^\/api\/v1\/namespaces(?:\/(?!default$|kube-)[^/]+)?$/,
];

export function isDisruptive(recorded: RecordedCase): boolean {
  const writes = [
    ...(recorded.setup ?? []).map(({ path }) => path),
    ...recorded.steps.flatMap(({ request }) =>
      request === undefined || request.method === 'GET' ? [] : [request.path],
    ),
  ];
  return writes.some((path) => !harmless.some((pattern) => pattern.test(path.split('?')[0] ?? '')));
}
