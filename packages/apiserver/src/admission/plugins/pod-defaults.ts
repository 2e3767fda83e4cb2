/** What a cluster adds to every pod: how long it stays on a lost node, and how important it is. */

import type { IPriorityClass } from 'kubernetes-models/scheduling.k8s.io/v1/PriorityClass';
import type { IPod } from 'kubernetes-models/v1/Pod';
import { forbidden } from '../../api/errors.ts';
import { typed, typedList } from '../../api/typed.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.ts';

const LOST_NODE_KEYS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const LOST_NODE_SECONDS = 300;
const PRIORITY_CLASSES = 'scheduling.k8s.io/priorityclasses';

function writtenPod({ operation, definition, subresource, object }: AdmissionAttributes): IPod | undefined {
  const fits =
    (operation === 'CREATE' || operation === 'UPDATE') &&
    subresource === '' &&
    definition.group === '' &&
    definition.plural === 'pods';
  return fits ? typed<IPod>(object) : undefined;
}

export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate(attributes) {
    const spec = writtenPod(attributes)?.spec;
    if (!spec) return;
    const covered = (key: string) =>
      spec.tolerations?.some(
        (toleration) =>
          (toleration.key === key || !toleration.key) &&
          (toleration.effect === 'NoExecute' || !toleration.effect),
      ) ?? false;
    for (const key of LOST_NODE_KEYS)
      if (!covered(key))
        spec.tolerations = [
          ...(spec.tolerations ?? []),
          { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: LOST_NODE_SECONDS },
        ];
  },
};

export const priority: AdmissionPlugin = {
  name: 'Priority',
  mutate(attributes, { parts }) {
    const spec = attributes.operation === 'CREATE' ? writtenPod(attributes)?.spec : undefined;
    if (!spec) return;
    const classes = typedList<IPriorityClass>(parts.store.list(PRIORITY_CLASSES));
    const named = spec.priorityClassName;
    const chosen = named
      ? classes.find((candidate) => candidate.metadata?.name === named)
      : classes.find((candidate) => candidate.globalDefault);
    const refuse = (why: string) => forbidden({ group: '', resource: 'pods' }, attributes.name, why);
    if (named && !chosen) throw refuse(`no PriorityClass with name ${named} was found`);
    if (chosen?.metadata?.name !== undefined) spec.priorityClassName = chosen.metadata.name;
    const value = chosen?.value ?? 0;
    if (spec.priority !== undefined && spec.priority !== value)
      throw refuse(
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    spec.priority = value;
    const policy = chosen?.preemptionPolicy ?? 'PreemptLowerPriority';
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy)
      throw refuse(
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      );
    spec.preemptionPolicy = policy;
  },
  validate({ operation, definition, subresource, object, name }, { parts }) {
    const { plural, group } = definition;
    if (plural !== 'priorityclasses' || group !== 'scheduling.k8s.io' || subresource !== '') return;
    if (operation === 'DELETE' || typed<IPriorityClass>(object)?.globalDefault !== true) return;
    const classes = typedList<IPriorityClass>(parts.store.list(PRIORITY_CLASSES));
    const other = classes.find((one) => one.globalDefault === true && one.metadata?.name !== name);
    if (other)
      throw forbidden(
        { group, resource: plural },
        name,
        `PriorityClass ${other.metadata?.name} is already marked as default. Only one default can exist`,
      );
  },
};
