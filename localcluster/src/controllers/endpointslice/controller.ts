/** Keeps the EndpointSlices of each Service, and the older Endpoints object beside them. */
import { AlreadyExistsError, draftOf, type Manager, NotFoundError } from '@slurm-operator/kube';
import { mapMatches } from '@slurm-operator/kubernetes-values';
import { endpointSlices, endpoints, nodes, pods, type Service, services } from '../../objects/objects.ts';
import { canonicalJson } from '../../objects/template-hash.ts';
import { buildEndpoints } from './build-endpoints.ts';
import { planEndpointSlices } from './plan.ts';

const serviceLabel = 'kubernetes.io/service-name';
const byService = 'service';

export function addEndpointSliceController(manager: Manager): void {
  const { cache, client } = manager;
  cache
    .informer(endpointSlices)
    .addIndex(byService, (slice) => [
      `${slice.metadata.namespace ?? ''}/${slice.metadata.labels?.[serviceLabel] ?? ''}`,
    ]);
  const selecting = (namespace: string, labels: Readonly<Record<string, string>> | undefined) =>
    cache
      .list(services, { namespace })
      .filter((service) => service.spec.selector !== undefined && mapMatches(service.spec.selector, labels))
      .map((service) => service.metadata);
  manager
    .controller('endpointslice')
    .for(services)
    .owns(endpointSlices)
    .watches(pods, (pod) => selecting(pod.metadata.namespace ?? '', pod.metadata.labels))
    .watches(
      nodes,
      (node) =>
        cache
          .list(services)
          .filter(hasPodOn(node.metadata.name))
          .map((service) => service.metadata),
      {
        // Only a node's coming and going matters here, not its heartbeat.
        predicate: (change) => change.type !== 'updated',
      },
    )
    .reconcile(async ({ namespace, name }, { signal }) => {
      const service = cache.get(services, { namespace, name });
      if (service === undefined) return;
      const candidates = cache.list(pods, { namespace: namespace ?? '' });
      const actions = planEndpointSlices({
        service,
        pods: candidates,
        nodes: new Set(cache.list(nodes).map((node) => node.metadata.name)),
        slices: cache.byIndex(endpointSlices, byService, `${namespace ?? ''}/${name}`),
      });
      for (const action of actions) {
        if (action.do === 'create')
          await client.create(endpointSlices, draftOf(endpointSlices, action.slice), { signal });
        else if (action.do === 'delete')
          await client.delete(endpointSlices, action.live.metadata, {
            uid: action.live.metadata.uid,
            signal,
          });
        else {
          const { generateName: _fixed, ...metadata } = action.slice.metadata;
          await client.replace(
            endpointSlices,
            {
              ...action.slice,
              metadata: { ...action.live.metadata, annotations: undefined, ...metadata },
            } as never, // the server writes null for empty lists, which the published type does not have
            { signal },
          );
        }
      }
      await writeEndpoints(service, signal);
    });

  function hasPodOn(node: string) {
    return (service: Service) =>
      service.spec.selector !== undefined &&
      cache
        .list(pods, { namespace: service.metadata.namespace ?? '' })
        .some(
          (pod) => pod.spec.nodeName === node && mapMatches(service.spec.selector ?? {}, pod.metadata.labels),
        );
  }

  async function writeEndpoints(service: Service, signal: AbortSignal): Promise<void> {
    if (service.spec.selector === undefined || service.spec.type === 'ExternalName') return;
    const ref = { namespace: service.metadata.namespace, name: service.metadata.name };
    const slices = cache.byIndex(endpointSlices, byService, `${ref.namespace ?? ''}/${ref.name}`);
    const wanted = buildEndpoints(service, slices);
    const live = cache.get(endpoints, ref);
    const { annotations: _time, ...identity } = wanted.metadata;
    if (live === undefined) {
      await client.create(endpoints, draftOf(endpoints, wanted), { signal }).catch((error: unknown) => {
        if (!(error instanceof AlreadyExistsError)) throw error;
      });
      return;
    }
    // Of Endpoints, for which there is no published type.
    const held = live as unknown as { subsets?: unknown; metadata: { labels?: unknown } };
    const same =
      canonicalJson([held.subsets ?? [], held.metadata.labels]) ===
      canonicalJson([wanted.subsets ?? [], identity.labels]);
    if (same) return;
    await client
      .replace(
        endpoints,
        { ...wanted, metadata: { ...live.metadata, ...wanted.metadata } },
        {
          signal,
        },
      )
      .catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
      });
  }
}
