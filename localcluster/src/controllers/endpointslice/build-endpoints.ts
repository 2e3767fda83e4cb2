/** The Endpoints object of a Service: the same addresses in the form that older programs read. */
import type { Endpoint, EndpointSlice, Service } from '../../objects/objects.ts';

interface Address {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: unknown;
}

interface Subset {
  readonly addresses?: readonly Address[];
  readonly notReadyAddresses?: readonly Address[];
  readonly ports: readonly unknown[];
}

export function buildEndpoints(service: Service, slices: readonly EndpointSlice[]) {
  const subsets = slices.flatMap((slice): Subset[] => {
    const all = slice.endpoints ?? [];
    const usable = all.filter((endpoint) => endpoint.conditions?.terminating !== true);
    const ready = usable.filter((endpoint) => endpoint.conditions?.ready !== false).map(addressOf);
    const waiting = usable.filter((endpoint) => endpoint.conditions?.ready === false).map(addressOf);
    if (ready.length + waiting.length === 0) return [];
    const ports = (slice.ports ?? []).map((port) => ({
      ...(port.name === undefined || port.name === '' ? {} : { name: port.name }),
      port: port.port,
      protocol: port.protocol ?? 'TCP',
    }));
    return [
      {
        ...(ready.length === 0 ? {} : { addresses: ready }),
        ...(waiting.length === 0 ? {} : { notReadyAddresses: waiting }),
        ports,
      },
    ];
  });
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: service.metadata.name,
      namespace: service.metadata.namespace,
      labels: {
        ...service.metadata.labels,
        'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
        ...(service.spec.clusterIP === 'None' ? { 'service.kubernetes.io/headless': '' } : {}),
      },
      annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': service.metadata.creationTimestamp },
    },
    ...(subsets.length === 0 ? {} : { subsets }),
  };
}

function addressOf(endpoint: Endpoint): Address {
  return {
    ip: endpoint.addresses[0] ?? '',
    ...(endpoint.hostname === undefined ? {} : { hostname: endpoint.hostname }),
    ...(endpoint.nodeName === undefined ? {} : { nodeName: endpoint.nodeName }),
    ...(endpoint.targetRef === undefined ? {} : { targetRef: endpoint.targetRef }),
  };
}
