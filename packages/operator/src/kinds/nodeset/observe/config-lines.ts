/** What the slurm.conf in force says of a NodeSet, from what its Controller has published. */
import { conditionType, type NodeSet, resourceName } from '@slurm-operator/api';
import { type Cache, configMaps, findCondition } from '@slurm-operator/kube';
import { controllers } from '../../../cache/resources.ts';
import { nodeSetsAnnotation } from '../../../slurm-config/render/config-map.ts';
import type { ConfigLines } from '../plan/observed.ts';

export function configLines(cache: Cache, nodeSet: NodeSet): ConfigLines {
  const { namespace, name } = nodeSet.metadata;
  const controller = cache.get(controllers, { namespace, name: nodeSet.spec.controllerRef.name });
  // What a Controller that goes holds back, nothing will ever release.
  if (
    controller === undefined ||
    controller.metadata.deletionTimestamp !== undefined ||
    controller.spec.external
  )
    return { state: 'external', held: [] };
  const map = cache.get(configMaps, { namespace, name: resourceName.config(controller.metadata.name) });
  const held = (controller.status?.heldConfig?.items ?? [])
    .filter((item) => item.nodeSet === name)
    .map(({ message = '' }) => message);
  if (!namesIn(map?.metadata.annotations?.[nodeSetsAnnotation]).includes(name))
    return { state: 'absent', held: [] };
  const degraded = findCondition(controller.status?.conditions, conditionType.degraded);
  return { state: degraded?.status === 'True' && held.length === 0 ? 'stuck' : 'present', held };
}

/** An annotation that cannot be read names nobody: the lines are safe without it. */
function namesIn(annotation: string | undefined): string[] {
  try {
    return Object.values(JSON.parse(annotation ?? '{}') as Record<string, string>);
  } catch {
    return [];
  }
}
