/** Where the agent of a pod's node listens, as its Node object says, and what to ask it for. */

import { ApiError, badRequest, notFound } from '../../api/errors.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { ServerParts } from '../../resource/request-context.ts';

export interface NodeEndpoint {
  readonly host: string;
  readonly port: number;
  /** Path and query on the agent. */
  readonly path: string;
}

interface PodView {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string }[];
    readonly initContainers?: readonly { readonly name: string }[];
    readonly ephemeralContainers?: readonly { readonly name: string }[];
  };
}

interface NodeView {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
  };
}

/** What each subresource is called on a node. */
const ROUTES = {
  log: 'containerLogs',
  exec: 'exec',
  attach: 'attach',
  portforward: 'portForward',
} as const;

/** The names a node knows the stream options by; the client's own are passed along as well. */
const STREAM_NAMES: readonly (readonly [string, string])[] = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
];

export type NodeRoute = keyof typeof ROUTES;

/** `undefined` when the pod is on no node yet. */
export function nodeEndpoint(
  parts: ServerParts,
  route: NodeRoute,
  namespace: string,
  name: string,
  query: URLSearchParams,
): NodeEndpoint | undefined {
  const pod = parts.store.get('/pods', namespace, name);
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, name);
  const segments = [ROUTES[route], namespace, name];
  if (route !== 'portforward') segments.push(containerOf(pod, query.get('container') ?? ''));
  const { nodeName } = typed<PodView>(pod).spec;
  if (!nodeName) return undefined;
  const { host, port } = agentOf(parts, nodeName);
  const passed = new URLSearchParams(query);
  passed.delete('container');
  if (route === 'exec' || route === 'attach')
    for (const [ours, theirs] of STREAM_NAMES)
      if (query.get(ours) === 'true' || query.get(ours) === '1') passed.set(theirs, '1');
  const search = passed.size === 0 ? '' : `?${passed.toString()}`;
  return { host, port, path: `/${segments.map(encodeURIComponent).join('/')}${search}` };
}

function containerOf(pod: KubeObject, wanted: string): string {
  const { spec } = typed<PodView>(pod);
  const main = spec.containers.map((container) => container.name);
  const all = [
    ...main,
    ...(spec.initContainers ?? []).map((container) => container.name),
    ...(spec.ephemeralContainers ?? []).map((container) => container.name),
  ];
  const name = pod.metadata.name ?? '';
  if (wanted !== '') {
    if (!all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`);
    return wanted;
  }
  const [only, ...others] = main;
  if (only !== undefined && others.length === 0) return only;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${main.join(' ')}]`);
}

function agentOf(parts: ServerParts, nodeName: string): { host: string; port: number } {
  const node = parts.store.get('/nodes', undefined, nodeName);
  if (node === undefined) throw notFound({ group: '', resource: 'nodes' }, nodeName);
  const { status } = typed<NodeView>(node);
  const host = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port;
  if (!host || !port)
    throw new ApiError(
      503,
      'ServiceUnavailable',
      `node ${nodeName} does not say where its agent listens: status.addresses needs an InternalIP and status.daemonEndpoints.kubeletEndpoint a Port`,
    );
  return { host, port };
}
