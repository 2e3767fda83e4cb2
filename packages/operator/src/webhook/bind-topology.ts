/**
 * Copies the topology annotation of a machine to a worker pod in the moment in which the pod is bound to it, so that
 * slurmd starts with it. Off by default: the NodeSet controller tells Slurm soon after in any case. Whatever goes wrong
 * here, the pod is bound: this stands in the way of every pod of the cluster, and none may wait for us.
 */
import { annotation, app, label } from '@slurm-operator/api';
import {
  allow,
  type Client,
  explain,
  type KubeObject,
  type Log,
  type Mutator,
  nodes,
  pods,
} from '@slurm-operator/kube';

interface Binding extends KubeObject {
  readonly target?: { readonly kind?: string; readonly name?: string };
}

export function bindTopology(client: Client, log: Log): Mutator<Binding> {
  return async ({ object, namespace = '', name: podName, dryRun }, signal) => {
    const name = podName ?? object?.metadata.name ?? '';
    const machine = object?.target?.name ?? '';
    if (dryRun === true || name === '' || machine === '') return allow();
    try {
      const pod = await client.find(pods, { namespace, name }, { signal });
      if (pod?.metadata.labels?.[label.name] !== app.worker) return allow();
      const node = await client.find(nodes, { name: machine }, { signal });
      const topology = oneLine(node?.metadata.annotations?.[annotation.topology]);
      if (topology === undefined || topology === pod.metadata.annotations?.[annotation.topology])
        return allow();
      await client.mergePatch(
        pods,
        { namespace, name },
        { metadata: { uid: pod.metadata.uid, annotations: { [annotation.topology]: topology } } },
        { signal },
      );
    } catch (error) {
      log.warn({ pod: `${namespace}/${name}`, machine, reason: explain(error) }, 'topology not copied');
    }
    return allow();
  };
}

/** As NodeSets read it: one line, without anything that could end it. */
function oneLine(value: string | undefined): string | undefined {
  const line = value?.replaceAll(/[\t\r\n]/g, ' ').trim();
  return line === undefined || line === '' ? undefined : line;
}
