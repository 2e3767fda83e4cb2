/** Gives LoadBalancer Services an address of the cluster's ingress range. */
import type { Manager } from '@slurm-operator/kube';
import { maxIngress } from '../../network/addresses.ts';
import { type Service, services } from '../../objects/objects.ts';

export function addLoadBalancerController(manager: Manager, ingress: (index: number) => string): void {
  const { cache, client, recorder } = manager;
  manager
    .controller('load-balancer')
    .for(services)
    .options({ workers: 1 }) // one at a time: two Services must not get one address
    .reconcile(async ({ namespace, name }, { signal }) => {
      const service = cache.get(services, { namespace, name });
      if (service === undefined) return;
      const held = service.status?.loadBalancer?.ingress?.[0]?.ip;
      const wanted = service.spec.type === 'LoadBalancer' && service.spec.loadBalancerClass === undefined;
      if (wanted === (held !== undefined)) return;
      const address = wanted ? chooseAddress(service, cache.list(services), ingress) : undefined;
      if (wanted && address === undefined) {
        recorder.warning(
          service,
          'SyncLoadBalancerFailed',
          `all ${maxIngress} ingress addresses of this cluster are in use`,
        );
        return { requeueAfter: 30_000 };
      }
      await client.mergePatch(
        services,
        service.metadata,
        {
          status: {
            loadBalancer: { ingress: address === undefined ? null : [{ ip: address, ipMode: 'VIP' }] },
          },
        },
        { subresource: 'status', signal },
      );
      return;
    });
}

/** The address the Service asks for, if it is one of ours and free; otherwise the first free one. */
export function chooseAddress(
  service: Service,
  all: readonly Service[],
  ingress: (index: number) => string,
): string | undefined {
  const used = new Set(
    all.flatMap((other) => (other.status?.loadBalancer?.ingress ?? []).map((entry) => entry.ip)),
  );
  const range = Array.from({ length: maxIngress }, (_, index) => ingress(index));
  const asked = service.spec.loadBalancerIP;
  if (asked !== undefined && asked !== '' && range.includes(asked) && !used.has(asked)) return asked;
  return range.find((address) => !used.has(address));
}
