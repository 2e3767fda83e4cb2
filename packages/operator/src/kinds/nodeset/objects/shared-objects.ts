/** Objects that all NodeSets of a Controller share: the headless Service of the workers and the budget that protects busy ones. */
import { app, type Controller, label, port, resourceName } from '@slurm-operator/api';
import { objectLabels } from '../../../objects/object-meta.ts';

function metadataFor(name: string, controller: Controller) {
  return {
    name,
    namespace: controller.metadata.namespace,
    labels: objectLabels('worker', controller.metadata.name, controller.metadata.name),
    // Owned by the Controller that they belong to: they outlive any one NodeSet and vanish with the cluster.
    ownerReferences: [ownerOfShared(controller)],
  };
}

export const ownerOfShared = ({ apiVersion, kind, metadata: { name, uid } }: Controller) => ({
  apiVersion,
  kind,
  name,
  uid,
});

export function workersService(controller: Controller) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataFor(resourceName.workers(controller.metadata.name), controller),
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { [label.name]: app.worker, [label.cluster]: controller.metadata.name },
      ports: [{ name: app.worker, port: port.slurmd, targetPort: app.worker }],
    },
  };
}

/**
 * While a node has work no eviction of its pod is allowed; the label comes and goes with the work. By a number that is never reached
 * and not by `maxUnavailable: 0`: that one is computed from the desired replicas, so during a scale-in Kubernetes would
 * allow as many busy workers to be evicted as are to go.
 */
export function workersBudget(controller: Controller) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataFor(resourceName.workersBudget(controller.metadata.name), controller),
    spec: {
      minAvailable: neverReached,
      selector: { matchLabels: { [label.podProtect]: 'true', [label.cluster]: controller.metadata.name } },
    },
  };
}

/** The largest that the field takes. */
const neverReached = 2 ** 31 - 1;
