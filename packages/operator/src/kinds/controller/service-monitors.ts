/** Keeps ServiceMonitors, where there is a Prometheus operator to read them; elsewhere nothing happens. */
import { type Controller, resourceName } from '@slurm-operator/api';
import {
  type Client,
  controllerReference,
  defineResource,
  type Live,
  NotFoundError,
} from '@slurm-operator/kube';
import { digestOf } from '../../objects/digest.ts';
import { buildServiceMonitor, type ServiceMonitor } from './objects/service-monitor.ts';

const serviceMonitors = defineResource<ServiceMonitor>({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  plural: 'servicemonitors',
  namespaced: true,
});

/** Not cached: a kind that may not exist cannot be watched. What was written last is remembered instead. */
export class ServiceMonitors {
  readonly #written = new Map<string, string>();

  /** `absent`: one is wanted, and nobody has installed its kind. It may be installed later. */
  async sync(controller: Live<Controller>, client: Client, signal: AbortSignal): Promise<'done' | 'absent'> {
    const { namespace, name, uid } = controller.metadata;
    const wanted = buildServiceMonitor(controller);
    const digest = wanted === undefined ? 'none' : digestOf([uid, wanted]);
    const key = `${namespace}/${name}`;
    if (this.#written.get(key) === digest) return 'done';
    try {
      if (wanted === undefined) await this.#remove(controller, client, signal);
      else
        await client.apply(
          serviceMonitors,
          { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [controllerReference(controller)] } },
          { signal },
        );
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      if (wanted !== undefined) return 'absent';
    }
    this.#written.set(key, digest);
    return 'done';
  }

  forget(key: string): void {
    this.#written.delete(key);
  }

  /** One of ours that is not wanted any more, perhaps since before this program started; never somebody else's. */
  async #remove(controller: Live<Controller>, client: Client, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = controller.metadata;
    const ref = { namespace, name: resourceName.controller(name) };
    const found = await client.find(serviceMonitors, ref, { signal });
    if (found?.metadata.ownerReferences?.some((owner) => owner.uid === uid))
      await client.delete(serviceMonitors, ref, { uid: found.metadata.uid, signal });
  }
}
