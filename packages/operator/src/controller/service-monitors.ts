/** Keeps ServiceMonitors, where there is a Prometheus operator to read them; elsewhere nothing happens. */
import type { Controller } from '@slurm-operator/api';
import {
  type Client,
  controllerReference,
  defineResource,
  type Live,
  NotFoundError,
} from '@slurm-operator/kube';
import { buildServiceMonitor, type ServiceMonitor } from '../builders/controller/service-monitor.ts';
import { digestOf } from '../builders/digest.ts';

const serviceMonitors = defineResource<ServiceMonitor>({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  plural: 'servicemonitors',
  namespaced: true,
});

/** Not cached: a kind that may not exist cannot be watched. What was written last is remembered instead. */
export class ServiceMonitors {
  readonly #written = new Map<string, string>();

  async sync(controller: Live<Controller>, client: Client, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = controller.metadata;
    const wanted = buildServiceMonitor(controller);
    const digest = wanted === undefined ? '' : digestOf([uid, wanted]);
    const key = `${namespace}/${name}`;
    if ((this.#written.get(key) ?? '') === digest) return;
    try {
      if (wanted === undefined)
        await client.delete(serviceMonitors, { namespace, name: `${name}-controller` }, { signal });
      else
        await client.apply(
          serviceMonitors,
          { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [controllerReference(controller)] } },
          { signal },
        );
    } catch (error) {
      // The kind is not installed. It may be later, so this is not remembered as done.
      if (error instanceof NotFoundError) return;
      throw error;
    }
    if (wanted === undefined) this.#written.delete(key);
    else this.#written.set(key, digest);
  }
}
