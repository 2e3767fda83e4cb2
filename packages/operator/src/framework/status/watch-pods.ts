/** Has an object looked at when a pod of its daemon changes, or the node under one begins or ceases to answer. */
import { label } from '@slurm-operator/api';
import {
  type Cache,
  type ControllerBuilder,
  type Live,
  type Node,
  nodes,
  type ObjectRef,
  type Pod,
  type Predicate,
  pods,
} from '@slurm-operator/kube';

export function watchPods(
  builder: ControllerBuilder,
  cache: Cache,
  apps: readonly string[],
): ControllerBuilder {
  const instanceOf = ({ metadata: { labels = {}, namespace } }: Live<Pod>): ObjectRef[] =>
    apps.includes(labels[label.name] ?? '') ? [{ namespace, name: labels[label.instance] ?? '' }] : [];
  return builder.watches(pods, instanceOf).watches(
    nodes,
    (node) =>
      cache
        .list(pods)
        .filter((pod) => pod.spec?.nodeName === node.metadata.name)
        .flatMap(instanceOf),
    { predicate: readinessChanged },
  );
}

/** Nodes say that they are alive all the time; that is no news. */
const readinessChanged: Predicate<Node> = (change) =>
  change.type !== 'updated' || readinessOf(change.object) !== readinessOf(change.previous);

const readinessOf = ({ status }: Live<Node>): string | undefined =>
  status?.conditions?.find((one) => one.type === 'Ready')?.status;
