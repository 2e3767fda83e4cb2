/** What is allowed in a pod spec and hardly ever meant: the client is warned of it. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IEnvVar } from 'kubernetes-models/v1/EnvVar';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { ITopologySpreadConstraint } from 'kubernetes-models/v1/TopologySpreadConstraint';
import type { RequestContext } from '../../../resource/request-context.ts';
import { nodeLabelWarning, nodeLabelWarnings } from './node-label-warnings.ts';
import { portWarnings } from './port-warnings.ts';

const NO_POD = 'a null labelSelector results in matching no pod';
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';
const USE_SECCOMP_FIELD = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const APPARMOR_CONTAINER = 'container.apparmor.security.beta.kubernetes.io/';
const USE_SYSCTLS = 'non-functional in v1.11+; use the "sysctls" field instead';
const oldAnnotations: readonly (readonly [string, string])[] = [
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  ['security.alpha.kubernetes.io/sysctls', USE_SYSCTLS],
  ['security.alpha.kubernetes.io/unsafe-sysctls', USE_SYSCTLS],
];

/** A pod or a template of pods. */
export interface Warned {
  readonly spec?: IPodSpec;
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** `path` is that of the pod or template: empty, or `spec.template`. */
export function warnOfPod(context: RequestContext, path: string, what: Warned | undefined): void {
  if (what?.spec === undefined) return;
  for (const warning of podWarnings(what.spec, what.metadata?.annotations ?? {}, path))
    if (!context.warnings.includes(warning)) context.warnings.push(warning);
}

export function podWarnings(
  spec: IPodSpec,
  annotations: Readonly<Record<string, string>>,
  path: string,
): string[] {
  const prefix = path === '' ? '' : `${path}.`;
  const at = `${prefix}spec`;
  const containers = (['initContainers', 'containers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, index) => ({ container, place: `${at}.${list}[${index}]` })),
  );
  return [
    ...nodeLabelWarnings(spec, at),
    ...spreadWarnings(spec.topologySpreadConstraints ?? [], `${at}.topologySpreadConstraints`),
    ...oldAnnotations
      .filter(([key]) => key in annotations)
      .map(([key, text]) => `${prefix}metadata.annotations[${key}]: ${text}`),
    ...duplicates(
      (spec.hostAliases ?? []).map(({ ip }) => ip),
      (index, ip) => `${at}.hostAliases[${index}].ip: duplicate ip ${JSON.stringify(ip)}`,
    ),
    ...pullSecretWarnings(spec, `${at}.imagePullSecrets`),
    ...seccompWarnings(spec, annotations, prefix),
    ...containers.flatMap(({ container, place }) => [
      ...profileWarnings(spec, container, annotations, path),
      ...fractions(container.resources?.limits, `${place}.resources.limits`),
      ...fractions(container.resources?.requests, `${place}.resources.requests`),
      ...hiddenVariables(container.env ?? [], `${place}.env`),
    ]),
    ...portWarnings(containers),
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0
      ? [
          `${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinityWarnings(spec, `${at}.affinity`),
  ];
}

function spreadWarnings(constraints: readonly ITopologySpreadConstraint[], path: string): string[] {
  return constraints.flatMap(({ labelSelector, topologyKey }, index) => {
    const old = nodeLabelWarning(topologyKey);
    return [
      ...(old === undefined ? [] : [`${path}[${index}].topologyKey: ${topologyKey} is ${old}`]),
      ...(labelSelector === undefined ? [`${path}[${index}].labelSelector: ${NO_POD}`] : []),
    ];
  });
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
  const names = imagePullSecrets.map(({ name }) => name ?? '');
  return [
    ...duplicates(names, (index, name) => `${path}[${index}].name: duplicate name ${JSON.stringify(name)}`),
    ...names.flatMap((name, index) => (name ? [] : [`${path}[${index}].name: invalid empty name ""`])),
  ];
}

function duplicates(values: readonly string[], text: (index: number, value: string) => string): string[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [text(index, value)] : []));
}

function seccompWarnings(
  { securityContext }: IPodSpec,
  annotations: Readonly<Record<string, string>>,
  prefix: string,
): string[] {
  return securityContext?.seccompProfile === undefined && SECCOMP_POD in annotations
    ? [`${prefix}metadata.annotations[${SECCOMP_POD}]: ${USE_SECCOMP_FIELD}`]
    : [];
}

function profileWarnings(
  { securityContext: ofPod }: IPodSpec,
  { name, securityContext }: IContainer,
  annotations: Readonly<Record<string, string>>,
  path: string,
): string[] {
  const prefix = path === '' ? '' : `${path}.`;
  const seccomp = `${SECCOMP_CONTAINER}${name}`;
  const appArmor = `${APPARMOR_CONTAINER}${name}`;
  const hasAppArmor = ofPod?.appArmorProfile ?? securityContext?.appArmorProfile;
  return [
    ...(securityContext?.seccompProfile === undefined && seccomp in annotations
      ? [`${prefix}metadata.annotations[${seccomp}]: ${USE_SECCOMP_FIELD}`]
      : []),
    ...(path !== '' && hasAppArmor === undefined && appArmor in annotations
      ? [
          `${prefix}metadata.annotations[${appArmor}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
        ]
      : []),
  ];
}

/** A variable may be given again to extend what it was: that names the earlier value. */
function hiddenVariables(variables: readonly IEnvVar[], path: string): string[] {
  const seen = new Set<string>();
  return variables.flatMap(({ name, value = '', valueFrom }, index) => {
    const isFirst = !seen.has(name);
    seen.add(name);
    const earlier = `$(${name})`;
    const extendsIt = valueFrom === undefined && value !== earlier && value.includes(earlier);
    return isFirst || extendsIt
      ? []
      : [`${path}[${index}]: hides previous definition of "${name}", which may be dropped when using apply`];
  });
}

/** Memory is counted in whole bytes. */
function fractions(amounts: Record<string, string | number> | undefined, path: string): string[] {
  return ['memory', 'ephemeral-storage'].flatMap((name) => {
    const text = fraction(amounts?.[name], `${path}[${name}]`);
    return text === undefined ? [] : [text];
  });
}

export function fraction(amount: string | number | undefined, path: string): string | undefined {
  const quantity = amount === undefined ? undefined : Quantity.parse(amount);
  return quantity !== undefined && quantity.nanos % 1_000_000_000n !== 0n
    ? `${path}: fractional byte value "${amount}" is invalid, must be an integer`
    : undefined;
}
