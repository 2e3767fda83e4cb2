/** What is wrong with where a pod wants to run: affinity, tolerations, spread, gates. */

import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '@slurm-operator/kubernetes-values';
import type { INodeSelector } from 'kubernetes-models/v1/NodeSelector';
import type { IPodAffinityTerm } from 'kubernetes-models/v1/PodAffinityTerm';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IToleration } from 'kubernetes-models/v1/Toleration';
import type { FieldFault } from '../../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, notSupported, required } from '../../../api/fault.ts';
import { validateLabelSelector } from '../label-selector-rules.ts';
import { oneOf } from './validate-security.ts';

export function affinityFaults(
  { nodeAffinity, podAffinity, podAntiAffinity }: NonNullable<IPodSpec['affinity']>,
  path: string,
): FieldFault[] {
  const faults: FieldFault[] = [];
  const wanted = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const nodePath = `${path}.nodeAffinity`;
  if (wanted)
    faults.push(...nodeSelectorFaults(wanted, `${nodePath}.requiredDuringSchedulingIgnoredDuringExecution`));
  for (const [index, term] of (
    nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  ).entries()) {
    const at = `${nodePath}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
    faults.push(...weightFaults(term.weight, at));
    faults.push(...nodeTermFaults(term.preference, `${at}.preference`));
  }
  for (const [name, affinity] of [
    ['podAffinity', podAffinity],
    ['podAntiAffinity', podAntiAffinity],
  ] as const) {
    for (const [index, term] of (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries())
      faults.push(
        ...podTermFaults(term, `${path}.${name}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`),
      );
    for (const [index, term] of (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      const at = `${path}.${name}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
      faults.push(...weightFaults(term.weight, at));
      faults.push(...podTermFaults(term.podAffinityTerm, `${at}.podAffinityTerm`));
    }
  }
  return faults;
}

function weightFaults(weight: number, path: string): FieldFault[] {
  return weight < 1 || weight > 100
    ? [invalidValue(`${path}.weight`, weight, 'must be in the range 1-100')]
    : [];
}

export function nodeSelectorFaults({ nodeSelectorTerms }: INodeSelector, path: string): FieldFault[] {
  if (!nodeSelectorTerms?.length)
    return [required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')];
  return nodeSelectorTerms.flatMap((term, index) =>
    nodeTermFaults(term, `${path}.nodeSelectorTerms[${index}]`, true),
  );
}

/** A preferred term may have values that no label can have: it matches nothing. */
function nodeTermFaults(
  term: INodeSelector['nodeSelectorTerms'][number],
  path: string,
  checksValues = false,
): FieldFault[] {
  const expressions = (term.matchExpressions ?? []).flatMap(({ key, operator, values = [] }, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const faults: FieldFault[] = [];
    if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
      faults.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    else if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
      faults.push(
        forbiddenField(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
    else if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1)
      faults.push(required(`${at}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    else if (!['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'].includes(operator))
      faults.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    faults.push(...qualifiedName(key).map((text) => invalidValue(`${at}.key`, key, text)));
    if (checksValues)
      for (const [place, value] of values.entries())
        for (const text of labelValue(value))
          faults.push(invalidValue(`${at}.values[${place}]`, value, text));
    return faults;
  });
  return [...expressions, ...fieldTermFaults(term.matchFields ?? [], `${path}.matchFields`)];
}

type Requirement = NonNullable<INodeSelector['nodeSelectorTerms'][number]['matchFields']>[number];

/** Of the fields of a node, only its name can be selected. */
function fieldTermFaults(requirements: readonly Requirement[], path: string): FieldFault[] {
  return requirements.flatMap(({ key, operator, values = [] }, index) => {
    const at = `${path}[${index}]`;
    const faults: FieldFault[] = [];
    if (operator !== 'In' && operator !== 'NotIn')
      faults.push(invalidValue(`${at}.operator`, operator, 'not a valid selector operator'));
    else if (values.length !== 1)
      faults.push(
        required(
          `${at}.values`,
          "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
      );
    if (key !== 'metadata.name')
      faults.push(invalidValue(`${at}.key`, key, 'not a valid field selector key'));
    else
      for (const [place, value] of values.entries())
        faults.push(
          ...dnsSubdomain(value).map((text) => invalidValue(`${at}.values[${place}]`, value, text)),
        );
    return faults;
  });
}

/** The schema asks for it, and yet it may be missing. */
const topologyOf = ({ topologyKey = '' }: { readonly topologyKey?: string }): string => topologyKey;

function podTermFaults(term: IPodAffinityTerm, path: string): FieldFault[] {
  const faults = validateLabelSelector(term.labelSelector, `${path}.labelSelector`);
  faults.push(...validateLabelSelector(term.namespaceSelector, `${path}.namespaceSelector`));
  for (const name of term.namespaces ?? [])
    faults.push(...dnsLabel(name).map((text) => invalidValue(`${path}.namespace`, name, text)));
  for (const field of ['matchLabelKeys', 'mismatchLabelKeys'] as const)
    faults.push(...labelKeyFaults(term[field] ?? [], term.labelSelector, `${path}.${field}`));
  const topologyKey = topologyOf(term);
  if (!topologyKey) faults.push(required(`${path}.topologyKey`, 'can not be empty'));
  faults.push(
    ...qualifiedName(topologyKey).map((text) => invalidValue(`${path}.topologyKey`, topologyKey, text)),
  );
  return faults;
}

function labelKeyFaults(keys: readonly string[], selector: unknown, path: string): FieldFault[] {
  if (keys.length === 0) return [];
  if (selector === undefined)
    return [forbiddenField(path, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, index) =>
    qualifiedName(key).map((text) => invalidValue(`${path}[${index}]`, key, text)),
  );
}

export function tolerationFaults(tolerations: readonly IToleration[], path: string): FieldFault[] {
  return tolerations.flatMap((toleration, index) => {
    const at = `${path}[${index}]`;
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
    const faults: FieldFault[] = [];
    if (key) faults.push(...qualifiedName(key).map((text) => invalidValue(`${at}.key`, key, text)));
    if (!key && operator !== 'Exists')
      faults.push(
        invalidValue(
          `${at}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    if (tolerationSeconds !== undefined && effect !== 'NoExecute')
      faults.push(
        invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
      );
    if (operator === 'Exists' && value)
      faults.push(invalidValue(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    else if (operator === '' || operator === 'Equal')
      faults.push(...labelValue(value).map((text) => invalidValue(`${at}.operator`, value, text)));
    else if (!['Equal', 'Exists', 'Lt', 'Gt'].includes(operator))
      faults.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    if (effect && !['NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect))
      faults.push(notSupported(`${at}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']));
    return faults;
  });
}

export function spreadFaults(
  constraints: NonNullable<IPodSpec['topologySpreadConstraints']>,
  path: string,
): FieldFault[] {
  const seen = new Set<string>();
  return constraints.flatMap((constraint, index) => {
    const at = `${path}[${index}]`;
    const { maxSkew, topologyKey, whenUnsatisfiable } = constraint;
    const faults: FieldFault[] = [];
    if (maxSkew <= 0) faults.push(invalidValue(`${at}.maxSkew`, maxSkew, 'must be greater than zero'));
    if (!topologyKey) faults.push(required(`${at}.topologyKey`, 'can not be empty'));
    if (!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable))
      faults.push(
        notSupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']),
      );
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    if (seen.has(pair)) faults.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, pair));
    seen.add(pair);
    if (constraint.minDomains !== undefined && constraint.minDomains <= 0)
      faults.push(invalidValue(`${at}.minDomains`, constraint.minDomains, 'must be greater than zero'));
    if (constraint.minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule')
      faults.push(
        invalidValue(
          `${at}.minDomains`,
          constraint.minDomains,
          `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
        ),
      );
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const)
      faults.push(...oneOf(constraint[policy], `${at}.${policy}`, ['Honor', 'Ignore']));
    faults.push(
      ...labelKeyFaults(constraint.matchLabelKeys ?? [], constraint.labelSelector, `${at}.matchLabelKeys`),
    );
    faults.push(...validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`));
    return faults;
  });
}

export function gateFaults(gates: readonly { readonly name: string }[], path: string): FieldFault[] {
  const seen = new Set<string>();
  return gates.flatMap(({ name }, index) => {
    const at = `${path}[${index}]`;
    const faults = qualifiedName(name).map((text) => invalidValue(at, name, text));
    if (seen.has(name)) faults.push(duplicate(at, name));
    seen.add(name);
    return faults;
  });
}
