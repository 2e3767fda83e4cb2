/** What is allowed in a pod spec and hardly ever meant: the client is warned of it. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { ITopologySpreadConstraint } from 'kubernetes-models/v1/TopologySpreadConstraint';
import { equal } from '../../../api/json.ts';
import type { RequestContext } from '../../../resource/request-context.ts';

const NO_POD = 'a null labelSelector results in matching no pod';

/** Warns of a new or changed spec; `what` is the pod or its template, whose metadata count too. */
export function warnOfPodSpec(
  context: RequestContext,
  path: string,
  what: { readonly spec?: IPodSpec } | undefined,
  old: { readonly spec?: IPodSpec } | undefined,
): void {
  if (what?.spec === undefined || (old !== undefined && equal(what, old))) return;
  for (const warning of podSpecWarnings(what.spec, path))
    if (!context.warnings.includes(warning)) context.warnings.push(warning);
}

export function podSpecWarnings(spec: IPodSpec, path: string): string[] {
  return [
    ...spreadWarnings(spec.topologySpreadConstraints ?? [], `${path}.topologySpreadConstraints`),
    ...affinityWarnings(spec, `${path}.affinity`),
    ...pullSecretWarnings(spec, `${path}.imagePullSecrets`),
    ...(['initContainers', 'containers'] as const).flatMap((list) =>
      (spec[list] ?? []).flatMap((container, index) => [
        ...hiddenVariables(container.env ?? [], `${path}.${list}[${index}].env`),
        ...fractions(container.resources?.requests, `${path}.${list}[${index}].resources.requests`),
        ...fractions(container.resources?.limits, `${path}.${list}[${index}].resources.limits`),
      ]),
    ),
  ];
}

function spreadWarnings(constraints: readonly ITopologySpreadConstraint[], path: string): string[] {
  return constraints.flatMap(({ labelSelector }, index) =>
    labelSelector === undefined ? [`${path}[${index}].labelSelector: ${NO_POD}`] : [],
  );
}

function affinityWarnings({ affinity }: IPodSpec, path: string): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((name) => [
    ...(affinity?.[name]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      ({ labelSelector }, index) =>
        labelSelector === undefined
          ? [
              `${path}.${name}.requiredDuringSchedulingIgnoredDuringExecution[${index}].labelSelector: ${NO_POD}`,
            ]
          : [],
    ),
    ...(affinity?.[name]?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      ({ podAffinityTerm }, index) =>
        podAffinityTerm.labelSelector === undefined
          ? [
              `${path}.${name}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm.labelSelector: ${NO_POD}`,
            ]
          : [],
    ),
  ]);
}

function pullSecretWarnings({ imagePullSecrets = [] }: IPodSpec, path: string): string[] {
  return imagePullSecrets.flatMap(({ name }, index) =>
    name ? [] : [`${path}[${index}]: invalid empty name ""`],
  );
}

function hiddenVariables(variables: readonly { readonly name: string }[], path: string): string[] {
  const seen = new Set<string>();
  return variables.flatMap(({ name }, index) => {
    const hides = seen.has(name);
    seen.add(name);
    return hides
      ? [`${path}[${index}]: hides previous definition of "${name}", which may be dropped when using apply`]
      : [];
  });
}

/** Memory is counted in whole bytes. */
function fractions(amounts: Record<string, string | number> | undefined, path: string): string[] {
  return ['ephemeral-storage', 'memory'].flatMap((name) => {
    const amount = amounts?.[name];
    const quantity = amount === undefined ? undefined : Quantity.parse(amount);
    return quantity !== undefined && quantity.nanos % 1_000_000_000n !== 0n
      ? [`${path}[${name}]: fractional byte value "${amount}" is invalid, must be an integer`]
      : [];
  });
}
