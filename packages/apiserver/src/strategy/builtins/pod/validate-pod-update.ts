/** A Pod's spec is fixed but for a few fields. */
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IToleration } from 'kubernetes-models/v1/Toleration';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, required } from '../../../api/fault.ts';
import { clone, equal } from '../../../api/json.ts';
import { internalDiff } from '../internal-form.ts';

const FIXED =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

export function validatePodUpdate(pod: IPod, old: IPod): FieldFault[] {
  const { spec } = pod;
  const before = old.spec;
  if (!spec || !before) return [];
  if (count(spec.containers) !== count(before.containers))
    return [forbiddenField('spec.containers', 'pod updates may not add or remove containers')];
  if (count(spec.initContainers) !== count(before.initContainers))
    return [forbiddenField('spec.initContainers', 'pod updates may not add or remove containers')];
  const unnamed = imageFaults(spec);
  if (unnamed.length > 0) return unnamed;
  const faults = deadlineFaults(spec, before);
  if (!onlyAdds(spec.tolerations ?? [], before.tolerations ?? []))
    faults.push(
      forbiddenField(
        'spec.tolerations',
        'existing toleration can not be modified except its tolerationSeconds',
      ),
    );
  const munged = withMutableFieldsOf(spec, before);
  if (before.schedulingGates?.length) {
    // While gates hold the pod back, it may still be told where to run, more and more narrowly.
    const narrowed = narrowingFaults(spec, before);
    if (narrowed.length > 0) return [...faults, ...narrowed];
    restore(munged, before, 'nodeSelector');
    restore(munged, before, 'affinity');
  }
  const gates = gateFaults(spec, before);
  if (gates.length > 0) return [...faults, ...gates];
  restore(munged, before, 'schedulingGates');
  if (!equal(munged, before))
    faults.push(forbiddenField('spec', `${FIXED}\n${internalDiff('PodSpec', before, munged)}`));
  return faults;
}

/** Gates may go, and none may come. */
function gateFaults(spec: IPodSpec, before: IPodSpec): FieldFault[] {
  const known = new Set((before.schedulingGates ?? []).map(({ name }) => name));
  return (spec.schedulingGates ?? []).flatMap(({ name }, index) =>
    known.has(name)
      ? []
      : [
          forbiddenField(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  );
}

function narrowingFaults(spec: IPodSpec, before: IPodSpec): FieldFault[] {
  const wanted = spec.nodeSelector ?? {};
  const kept = Object.entries(before.nodeSelector ?? {}).every(([key, value]) => wanted[key] === value);
  return kept
    ? []
    : [
        invalidValue(
          'spec.nodeSelector',
          wanted,
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      ];
}

function count(list: readonly unknown[] | undefined): number {
  return list?.length ?? 0;
}

/** A removed image is the only error that is reported; the rest of the spec is not compared then. */
function imageFaults(spec: IPodSpec): FieldFault[] {
  return (['containers', 'initContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container, index) =>
      container.image ? [] : [required(`spec.${list}[${index}].image`)],
    ),
  );
}

function deadlineFaults(spec: IPodSpec, before: IPodSpec): FieldFault[] {
  const now = spec.activeDeadlineSeconds;
  const then = before.activeDeadlineSeconds;
  const path = 'spec.activeDeadlineSeconds';
  if (then === undefined) return [];
  if (now === undefined)
    return [invalidValue(path, null, 'must not update from a positive integer to nil value')];
  return now > then ? [invalidValue(path, now, 'must be less than or equal to previous value')] : [];
}

/** The spec as it would be if the fields that may change had not. */
function withMutableFieldsOf(spec: IPodSpec, before: IPodSpec): IPodSpec {
  const munged = clone(spec);
  for (const list of ['containers', 'initContainers'] as const)
    for (const [index, container] of (munged[list] ?? []).entries()) {
      const image = before[list]?.[index]?.image;
      if (image !== undefined) container.image = image;
    }
  restore(munged, before, 'activeDeadlineSeconds');
  restore(munged, before, 'tolerations');
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && munged.terminationGracePeriodSeconds === 1)
    restore(munged, before, 'terminationGracePeriodSeconds');
  return munged;
}

function restore(spec: IPodSpec, before: IPodSpec, key: keyof IPodSpec): void {
  if (before[key] === undefined) delete spec[key];
  else Object.assign(spec, { [key]: clone(before[key]) });
}

function onlyAdds(now: readonly IToleration[], before: readonly IToleration[]): boolean {
  const bare = ({ key, operator, value, effect }: IToleration) => ({ key, operator, value, effect });
  return before.every((toleration) => now.some((candidate) => equal(bare(candidate), bare(toleration))));
}
