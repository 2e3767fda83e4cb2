/** The EndpointSlices of a Service: the addresses of the pods it selects, at most a hundred per slice. */
import { mapMatches } from '@slurm-operator/kubernetes-values';
import type { Endpoint, EndpointSlice, Node, Pod, Service, ServicePort } from '../../objects/objects.ts';
import { condition, controllerReference, isFinished, isReady, isTerminating } from '../../objects/pods.ts';
import { canonicalJson } from '../../objects/template-hash.ts';

export interface Observed {
  readonly service: Service;
  /** The pods of the Service's namespace. */
  readonly pods: readonly Pod[];
  /** The names of the nodes that exist. */
  readonly nodes: ReadonlySet<Node['metadata']['name']>;
  readonly slices: readonly EndpointSlice[];
}

export type Action =
  | { readonly do: 'create'; readonly slice: SliceContent }
  | { readonly do: 'update'; readonly live: EndpointSlice; readonly slice: SliceContent }
  | { readonly do: 'delete'; readonly live: EndpointSlice };

export interface SliceContent {
  readonly apiVersion: 'discovery.k8s.io/v1';
  readonly kind: 'EndpointSlice';
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly addressType: 'IPv4';
  readonly endpoints: readonly Endpoint[] | null;
  readonly ports: readonly SlicePort[] | null;
}

interface SlicePort {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly appProtocol?: string;
}

export const managedBy = 'endpointslice-controller.k8s.io';
const perSlice = 100;
const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

export function planEndpointSlices({ service, pods, nodes, slices }: Observed): Action[] {
  if (service.spec.selector === undefined || service.spec.type === 'ExternalName') return [];
  if (isTerminating(service)) return [];
  const groups = new Map<string, { ports: readonly SlicePort[]; endpoints: Endpoint[]; trigger: string }>();
  for (const pod of pods) {
    const entry = endpointOf(service, pod, nodes);
    if (entry === undefined) continue;
    const ports = portsFor(service, pod);
    const key = canonicalJson(ports);
    const group = groups.get(key) ?? { ports, endpoints: [], trigger: '' };
    group.endpoints.push(entry);
    const since = condition(pod, 'Ready')?.lastTransitionTime ?? '';
    if (since > group.trigger) group.trigger = since;
    groups.set(key, group);
  }

  const wanted: SliceContent[] = [];
  for (const { ports, endpoints, trigger } of groups.values()) {
    const sorted = endpoints.toSorted((a, b) => ((a.addresses[0] ?? '') < (b.addresses[0] ?? '') ? -1 : 1));
    for (let at = 0; at < sorted.length; at += perSlice)
      wanted.push(sliceOf(service, sorted.slice(at, at + perSlice), ports, trigger));
  }
  // A Service without endpoints keeps one empty slice, so that watchers can tell "none" from "not yet".
  if (wanted.length === 0) wanted.push(sliceOf(service, null, null, ''));
  return match(service, slices, wanted);
}

function endpointOf(service: Service, pod: Pod, nodes: ReadonlySet<string>): Endpoint | undefined {
  if (!mapMatches(service.spec.selector ?? {}, pod.metadata.labels)) return undefined;
  const address = pod.status?.podIP;
  if (address === undefined || !address.includes('.') || isFinished(pod)) return undefined;
  const publish = service.spec.publishNotReadyAddresses === true;
  const node = pod.spec.nodeName ?? '';
  if (!publish && !nodes.has(node)) return undefined;
  const serving = isReady(pod);
  const terminating = isTerminating(pod);
  const headlessName =
    pod.spec.hostname !== undefined &&
    pod.spec.subdomain === service.metadata.name &&
    pod.metadata.namespace === service.metadata.namespace;
  return {
    addresses: [address],
    conditions: { ready: publish || (serving && !terminating), serving, terminating },
    ...(headlessName ? { hostname: pod.spec.hostname } : {}),
    targetRef: {
      kind: 'Pod',
      namespace: pod.metadata.namespace,
      name: pod.metadata.name,
      uid: pod.metadata.uid,
    },
    ...(node === '' ? {} : { nodeName: node }),
  };
}

function portsFor(service: Service, pod: Pod): SlicePort[] {
  return (service.spec.ports ?? []).flatMap((port) => {
    const number = targetPort(port, pod);
    if (number === undefined) return [];
    return [
      {
        name: port.name ?? '',
        protocol: port.protocol ?? 'TCP',
        port: number,
        ...(port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol }),
      },
    ];
  });
}

/** A named target port is whatever number this pod gave that name. */
export function targetPort(port: ServicePort, pod: Pod): number | undefined {
  const target = port.targetPort ?? port.port;
  if (typeof target === 'number') return target === 0 ? port.port : target;
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return containers
    .flatMap((container) => container.ports ?? [])
    .find((entry) => entry.name === target && (entry.protocol ?? 'TCP') === (port.protocol ?? 'TCP'))
    ?.containerPort;
}

function sliceOf(
  service: Service,
  endpoints: readonly Endpoint[] | null,
  ports: readonly SlicePort[] | null,
  trigger: string,
): SliceContent {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${service.metadata.name}-`,
      namespace: service.metadata.namespace,
      labels: {
        ...service.metadata.labels,
        'endpointslice.kubernetes.io/managed-by': managedBy,
        'kubernetes.io/service-name': service.metadata.name,
        ...(service.spec.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {}),
      },
      ...(trigger === '' ? {} : { annotations: { [triggerAnnotation]: trigger } }),
      ownerReferences: [controllerReference(service, 'v1', 'Service')],
    },
    addressType: 'IPv4',
    endpoints,
    ports,
  };
}

/** Pairs wanted slices with live ones so that as few as possible are written. */
function match(
  service: Service,
  slices: readonly EndpointSlice[],
  wanted: readonly SliceContent[],
): Action[] {
  const ours = slices.filter(
    (slice) =>
      slice.metadata.labels?.['endpointslice.kubernetes.io/managed-by'] === managedBy &&
      !isTerminating(slice),
  );
  const actions: Action[] = [];
  const left = [...wanted];
  const spare: EndpointSlice[] = [];
  for (const live of ours) {
    const at = left.findIndex((slice) => fingerprint(slice) === fingerprint(live));
    if (at >= 0) left.splice(at, 1);
    else spare.push(live);
  }
  for (const slice of left) {
    const live = spare.shift();
    if (live !== undefined) actions.push({ do: 'update', live, slice });
    else
      actions.push({
        do: 'create',
        slice:
          slice.metadata['annotations'] === undefined
            ? {
                ...slice,
                metadata: {
                  ...slice.metadata,
                  annotations: { [triggerAnnotation]: service.metadata.creationTimestamp },
                },
              }
            : slice,
      });
  }
  actions.push(...spare.map((live) => ({ do: 'delete' as const, live })));
  return actions;
}

function fingerprint(slice: SliceContent | EndpointSlice): string {
  return canonicalJson([slice.metadata.labels ?? {}, slice.endpoints ?? [], slice.ports ?? []]);
}
