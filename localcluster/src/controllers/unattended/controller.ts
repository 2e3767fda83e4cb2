/** Kinds that are stored but that no controller handles here: each object gets an event that says so. */
import { defineResource, type KubeObject, type Manager } from '@slurm-operator/kube';

const kind = (apiVersion: string, name: string, plural: string) =>
  defineResource<KubeObject>({ apiVersion, kind: name, plural, namespaced: true });

const unattended = [
  { resource: kind('apps/v1', 'DaemonSet', 'daemonsets'), so: 'no pod is made from it' },
  { resource: kind('batch/v1', 'CronJob', 'cronjobs'), so: 'no Job is made from it' },
  { resource: kind('v1', 'ReplicationController', 'replicationcontrollers'), so: 'no pod is made from it' },
  {
    resource: kind('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
    so: 'nothing is scaled by it',
  },
  { resource: kind('networking.k8s.io/v1', 'Ingress', 'ingresses'), so: 'nothing is served by it' },
  {
    resource: kind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
    so: 'all traffic stays allowed',
  },
];

export function addUnattendedKinds(manager: Manager): void {
  const { cache, recorder } = manager;
  for (const { resource, so } of unattended) {
    const told = new Map<string, string>();
    manager
      .controller(`unattended-${resource.plural}`)
      .for(resource)
      .options({ workers: 1 })
      .reconcile(async ({ namespace, name }) => {
        const key = `${namespace ?? ''}/${name}`;
        const object = cache.get(resource, { namespace, name });
        if (object === undefined) told.delete(key);
        else if (told.get(key) !== object.metadata.uid) {
          told.set(key, object.metadata.uid);
          recorder.warning(object, 'NotActedOn', `localcluster stores this ${resource.kind} only: ${so}`);
        }
      });
  }
}
