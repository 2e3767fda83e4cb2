/** The Services in front of slurmctld. */
import { app, type Controller, resourceName } from '@slurm-operator/api';
import type { Service } from '@slurm-operator/kube';
import { type BuiltMeta, builtMeta, selectorLabels } from '../../../objects/object-meta.ts';
import type { Read } from '../../../objects/read.ts';
import { buildService } from '../../../objects/service.ts';
import { controllerReplicas, slurmctldPort } from '../../../objects/slurmctld-endpoints.ts';

/** On the one Service by which metrics are read: through each of them, every figure would count several times. */
export const metricsLabel = { 'controller.slinky.slurm.net/metrics': 'true' } as const;

const withMetrics = (metadata: BuiltMeta): BuiltMeta => ({
  ...metadata,
  labels: { ...metadata.labels, ...metricsLabel },
});

export function buildControllerServices(controller: Read<Controller>): Service[] {
  const { name } = controller.metadata;
  const selector = selectorLabels('controller', name);
  const port = { name: app.controller, number: slurmctldPort(controller), target: app.controller };
  const meta = (service: string) => builtMeta(service, 'controller', controller, name);
  const ordinals = Array.from({ length: controllerReplicas(controller) }, (_, ordinal) => ordinal);
  return [
    buildService({ metadata: meta(resourceName.controllerInternal(name)), selector, port, headless: true }),
    // Only the active slurmctld says that it is ready, so this Service needs no label that the operator must maintain.
    buildService({
      metadata: withMetrics(
        builtMeta(
          resourceName.controller(name),
          'controller',
          controller,
          name,
          controller.spec.service?.metadata,
        ),
      ),
      selector,
      port,
      nodePort: controller.spec.service?.nodePort,
      user: controller.spec.service?.spec,
    }),
    // The address of each slurmctld, there while its pod is away: on a name that is gone Slurm blocks for ten seconds.
    ...ordinals.map((ordinal) =>
      buildService({
        metadata: meta(resourceName.controllerPod(name, ordinal)),
        selector: {
          ...selector,
          'statefulset.kubernetes.io/pod-name': resourceName.controllerPod(name, ordinal),
        },
        port,
        notReady: true,
      }),
    ),
  ];
}
