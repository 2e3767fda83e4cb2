/** Creates, updates and deletes the ServiceMonitor of a Controller. Its kind may not be installed, so it is not cached. */
import { type Controller, resourceName } from '@slurm-operator/api';
import {
  type Client,
  controllerReference,
  defineResource,
  type Live,
  NotFoundError,
} from '@slurm-operator/kube';
import { buildServiceMonitor, type ServiceMonitor } from './objects/service-monitor.ts';

const serviceMonitors = defineResource<ServiceMonitor>({
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'ServiceMonitor',
  plural: 'servicemonitors',
  namespaced: true,
});

/** `absent`: one is requested, and its kind is not installed. It may be installed later. */
export async function syncServiceMonitor(
  controller: Live<Controller>,
  client: Client,
  signal: AbortSignal,
): Promise<'done' | 'absent'> {
  const wanted = buildServiceMonitor(controller);
  try {
    if (wanted === undefined) await remove(controller, client, signal);
    else
      await client.apply(
        serviceMonitors,
        { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [controllerReference(controller)] } },
        { signal },
      );
    return 'done';
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    return wanted === undefined ? 'done' : 'absent';
  }
}

/** One of ours that is not requested any more, perhaps since before this program started; never another's. */
async function remove(controller: Live<Controller>, client: Client, signal: AbortSignal): Promise<void> {
  const { namespace, name, uid } = controller.metadata;
  const ref = { namespace, name: resourceName.controller(name) };
  const found = await client.find(serviceMonitors, ref, { signal });
  if (found?.metadata.ownerReferences?.some((owner) => owner.uid === uid))
    await client.delete(serviceMonitors, ref, { uid: found.metadata.uid, signal });
}
