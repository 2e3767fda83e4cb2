/**
 * An operator on one page: a Web has an image and a number of replicas; the operator creates a Deployment and a Service, and the
 * status reports whether it is ready. Run it against the cluster of your kubeconfig: `node examples/web-operator.ts`.
 */
import * as kube from '@slurm-operator/kube';

interface Web extends kube.KubeObject {
  spec: { image: string; replicas: number; port?: number };
  status?: { ready?: number; conditions?: readonly kube.Condition[] };
}

export const webs = kube.defineResource<Web>({
  apiVersion: 'example.org/v1',
  kind: 'Web',
  plural: 'webs',
  namespaced: true,
});

function deploymentFor({ metadata: { name, namespace }, spec }: kube.Live<Web>) {
  const labels = { 'app.kubernetes.io/instance': name };
  const containers = [{ name: 'web', image: spec.image, ports: [{ containerPort: spec.port ?? 80 }] }];
  const template = { metadata: { labels }, spec: { containers } };
  return {
    metadata: { name, namespace, labels },
    spec: { replicas: spec.replicas, selector: { matchLabels: labels }, template },
  };
}

function serviceFor({ metadata: { name, namespace }, spec }: kube.Live<Web>) {
  const selector = { 'app.kubernetes.io/instance': name };
  return { metadata: { name, namespace }, spec: { selector, ports: [{ port: spec.port ?? 80 }] } };
}

function readyCondition(web: kube.Live<Web>, ready: number): kube.NewCondition {
  const message = `${ready} of ${web.spec.replicas} replicas are ready`;
  return ready >= web.spec.replicas
    ? { type: 'Ready', status: 'True', reason: 'AllReady', message }
    : { type: 'Ready', status: 'False', reason: 'Waiting', message };
}

export async function webOperator(options: Partial<kube.ManagerOptions> = {}): Promise<kube.Manager> {
  const manager = await kube.createManager({ name: 'web-operator', ...options });
  manager
    .controller('web')
    .for(webs, { predicate: kube.generationChanged }) // a change of a Web, but not of its status
    .owns(kube.deployments) // any change of its children
    .owns(kube.services)
    .reconcile(async ({ namespace, name }, { signal, clock }) => {
      const web = manager.cache.get(webs, { namespace, name });
      if (web === undefined || kube.isBeingDeleted(web)) return; // the garbage collector deletes its children

      const deployment = await manager.owned.apply(kube.deployments, web, deploymentFor(web), { signal });
      await manager.owned.apply(kube.services, web, serviceFor(web), { signal });

      const ready = deployment.object.status?.readyReplicas ?? 0;
      const conditions = kube.setCondition(web.status?.conditions, readyCondition(web, ready), clock.now());
      if (conditions === web.status?.conditions && ready === web.status?.ready) return; // no change
      const status = { ready, conditions };
      await manager.client.mergePatch(webs, web.metadata, { status }, { subresource: 'status', signal });
    });
  return manager;
}

if (import.meta.main) {
  const manager = await webOperator({ log: kube.createLog('web-operator') });
  await manager.start(kube.shutdownSignal());
}
