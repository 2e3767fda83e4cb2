/** Conditions and accepted names of a definition: what the naming and establishing controllers decide. */
import type { CustomCondition, CustomNames, CustomResourceDefinition } from './definition.ts';

/** Replaces the condition of that type, keeping its transition time when the status is the same. */
export function setCondition(crd: CustomResourceDefinition, condition: CustomCondition): void {
  const conditions = [...(crd.status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[at];
  if (before === undefined) conditions.push(condition);
  else
    conditions[at] = {
      ...condition,
      lastTransitionTime:
        before.status === condition.status ? before.lastTransitionTime : condition.lastTransitionTime,
    };
  crd.status.conditions = conditions;
}

export interface Naming {
  readonly accepted: CustomNames;
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/** Which of the wanted names are free in the group, given what the others have. Names once accepted stay. */
export function acceptNames(
  crd: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
): Naming {
  const wanted = crd.spec.names;
  const taken = others
    .filter((other) => other.spec.group === crd.spec.group && other.metadata.name !== crd.metadata.name)
    .map((other) => other.status.acceptedNames);
  const resourceNames = new Set(
    taken
      .flatMap((names) => [names.plural, names.singular ?? '', ...(names.shortNames ?? [])])
      .filter(Boolean),
  );
  const kinds = new Set(taken.flatMap((names) => [names.kind, names.listKind ?? '']).filter(Boolean));
  const accepted: CustomNames = { ...crd.status.acceptedNames };
  let conflict: Naming['conflict'];
  const clash = (reason: string, name: string): void => {
    conflict ??= { reason, message: `"${name}" is already in use` };
  };
  if (resourceNames.has(wanted.plural)) clash('PluralConflict', wanted.plural);
  else accepted.plural = wanted.plural;
  if (wanted.singular !== undefined) {
    if (resourceNames.has(wanted.singular)) clash('SingularConflict', wanted.singular);
    else accepted.singular = wanted.singular;
  }
  const shortClash = wanted.shortNames?.find((name) => resourceNames.has(name));
  if (kinds.has(wanted.kind)) clash('KindConflict', wanted.kind);
  else accepted.kind = wanted.kind;
  if (wanted.listKind !== undefined) {
    if (kinds.has(wanted.listKind)) clash('ListKindConflict', wanted.listKind);
    else accepted.listKind = wanted.listKind;
  }
  if (shortClash !== undefined) clash('ShortNamesConflict', shortClash);
  else if (wanted.shortNames && wanted.shortNames.length > 0) accepted.shortNames = wanted.shortNames;
  else delete accepted.shortNames;
  if (wanted.categories && wanted.categories.length > 0) accepted.categories = wanted.categories;
  else delete accepted.categories;
  return { accepted, conflict };
}
