/** The zone of a cluster, read from the control plane's caches. */
import type { Manager } from '@slurm-operator/kube';
import { endpointSlices, namespaces, services } from '../objects/objects.ts';
import type { ZoneSource } from './zone.ts';

const byAddress = 'address';
const byService = 'dns-service';

export function cachedZone({ cache }: Manager): ZoneSource {
  cache.informer(services).addIndex(byAddress, (service) => service.spec.clusterIPs ?? []);
  const slices = cache.informer(endpointSlices);
  slices.addIndex(byService, (slice) => [
    `${slice.metadata.namespace ?? ''}/${slice.metadata.labels?.['kubernetes.io/service-name'] ?? ''}`,
  ]);
  slices.addIndex(byAddress, (slice) => [
    ...new Set((slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses)),
  ]);
  cache.informer(namespaces);
  return {
    service: (namespace, name) => cache.get(services, { namespace, name }),
    slices: (namespace, service) => cache.byIndex(endpointSlices, byService, `${namespace}/${service}`),
    hasNamespace: (name) => cache.get(namespaces, { name }) !== undefined,
    serviceByAddress: (address) => cache.byIndex(services, byAddress, address)[0],
    endpointsByAddress: (address) =>
      cache
        .byIndex(endpointSlices, byAddress, address)
        .flatMap((slice) =>
          (slice.endpoints ?? [])
            .filter((endpoint) => endpoint.addresses.includes(address))
            .map((endpoint) => ({ slice, endpoint })),
        ),
  };
}
