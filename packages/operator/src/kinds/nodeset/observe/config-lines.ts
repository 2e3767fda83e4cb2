/** What the slurm.conf in force says of a NodeSet, from what its Controller has published. */
import { conditionType, type NodeSet, resourceName } from '@slurm-operator/api';
import { type Cache, configMaps, findCondition } from '@slurm-operator/kube';
import { controllers } from '../../../cache/resources.ts';
import { nodeSetsAnnotation, powerSavingAnnotation } from '../../../slurm-config/render/config-map.ts';
import type { ConfigLines } from '../model/observed.ts';

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
  const all = controller.status?.heldConfig?.items ?? [];
  const own = all.filter((item) => item.nodeSet === name);
  const { conditions } = controller.status ?? {};
  const applied = findCondition(conditions, conditionType.configApplied);
  const refused =
    applied?.status === 'False' ? refusals.find((reason) => reason === applied.reason) : undefined;
  const refusal = refused === undefined ? {} : { refused };
  if (!namesIn(map?.metadata.annotations?.[nodeSetsAnnotation]).includes(name))
    return { state: 'absent', held: [], ...refusal };
  // Where the whole configuration waits, the lines of a NodeSet that goes wait with it.
  const leaves = nodeSet.metadata.deletionTimestamp !== undefined;
  const items = leaves ? [...own, ...all.filter(({ kind }) => kind === 'Configuration')] : own;
  const held = items.map(({ message = '' }) => message);
  const isDegraded = findCondition(conditions, conditionType.degraded)?.status === 'True';
  // Lines that stay in the old file do no harm: the first text that is accepted drops them, and the guard looks at their jobs then.
  const isStuck = refused ? !own.some(({ cause }) => waits.has(cause ?? '')) : isDegraded && own.length === 0;
  const why = applied?.status === 'False' ? { why: applied.reason } : {};
  return { state: isStuck ? 'stuck' : 'present', held, ...why, ...refusal };
}

/**
 * Why slurmctld cannot wake nodes now: it gives jobs to sleeping ones all the same, and they would wait without end (24.11 and 26.05). What an external one
 * reads is not known here.
 */
export function whyAsleep(cache: Cache, nodeSet: NodeSet): string | undefined {
  const { namespace } = nodeSet.metadata;
  const controller = cache.get(controllers, { namespace, name: nodeSet.spec.controllerRef.name });
  if (controller === undefined || controller.spec.external) return undefined;
  const map = cache.get(configMaps, { namespace, name: resourceName.config(controller.metadata.name) });
  const applied = findCondition(controller.status?.conditions, conditionType.configApplied);
  const isRead = applied?.reason !== 'Reconfiguring';
  if (map?.metadata.annotations?.[powerSavingAnnotation] === 'true' && isRead) return undefined;
  return 'slurmctld has not read a slurm.conf with the lines of autoscaling yet (see the condition ConfigApplied of its Controller)';
}

/** No new text is put in force before a person corrects the Controller. */
const refusals = ['ConfigRejected', 'ConfigUntried'] as const;

/** A NodeSet that goes waits for these, whatever happens to the text. */
const waits = new Set(['jobs', 'unknown', 'workers']);

/** An invalid annotation names no node: the lines are safe without it. */
function namesIn(annotation: string | undefined): string[] {
  try {
    return Object.values(JSON.parse(annotation ?? '{}') as Record<string, string>);
  } catch {
    return [];
  }
}
