/** The standard "restricted": what hardened workloads say about themselves. Pure. */
import { addedBeyond } from './baseline.ts';
import { type Check, containersOf, eachContainer, isWindows, named } from './pod-view.ts';

const VOLUMES = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);
const PROFILES = new Set<string | undefined>(['RuntimeDefault', 'Localhost']);

const volumes: Check = ({ spec }) => {
  const found = (spec.volumes ?? []).flatMap(({ name, ...source }) => {
    const type = Object.keys(source).find((key) => !VOLUMES.has(key));
    return type === undefined ? [] : [`volume "${name}" uses restricted volume type "${type}"`];
  });
  return found.length === 0 ? undefined : { reason: 'restricted volume types', detail: found.join(', ') };
};

const dropsAll = eachContainer(
  'unrestricted capabilities',
  ({ securityContext }) => securityContext?.capabilities?.drop?.includes('ALL') !== true,
  'must set securityContext.capabilities.drop=["ALL"]',
);
const addsLittle = addedBeyond(new Set(['NET_BIND_SERVICE']), 'unrestricted capabilities');

const capabilities: Check = (pod) => {
  const found = [dropsAll(pod), addsLittle(pod)].filter((violation) => violation !== undefined);
  return found.length === 0
    ? undefined
    : { reason: 'unrestricted capabilities', detail: found.map(({ detail }) => detail).join('; ') };
};

const runAsNonRoot: Check = (pod) => {
  const wide = pod.spec.securityContext?.runAsNonRoot;
  const of = (value: boolean | undefined) =>
    containersOf(pod)
      .filter(({ securityContext }) => securityContext?.runAsNonRoot === value)
      .map(({ name }) => name);
  const denied = of(false);
  const silent = wide === true ? [] : of(undefined);
  if (denied.length === 0 && silent.length === 0) return undefined;
  const places =
    denied.length > 0
      ? `${named('container', denied)} must not set securityContext.runAsNonRoot=false`
      : `pod or ${named('container', silent)} must set securityContext.runAsNonRoot=true`;
  return { reason: 'runAsNonRoot != true', detail: places };
};

const runAsUser: Check = (pod) => {
  const names = containersOf(pod)
    .filter(({ securityContext }) => securityContext?.runAsUser === 0)
    .map(({ name }) => name);
  const places = [
    ...(pod.spec.securityContext?.runAsUser === 0 ? ['pod'] : []),
    ...(names.length === 0 ? [] : [named('container', names)]),
  ];
  if (places.length === 0) return undefined;
  return { reason: 'runAsUser=0', detail: `${places.join(' and ')} must not set runAsUser=0` };
};

const seccomp: Check = (pod) => {
  const wide = pod.spec.securityContext?.seccompProfile?.type;
  const names = containersOf(pod)
    .filter(({ securityContext }) => !PROFILES.has(securityContext?.seccompProfile?.type ?? wide))
    .map(({ name }) => name);
  if (names.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${named('container', names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};

/** Linux has these; a pod that says it is for Windows is not asked for them. */
const linuxOnly =
  (check: Check): Check =>
  (pod) =>
    isWindows(pod) ? undefined : check(pod);

export const restrictedChecks: readonly Check[] = [
  linuxOnly(
    eachContainer(
      'allowPrivilegeEscalation != false',
      ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false,
      'must set securityContext.allowPrivilegeEscalation=false',
    ),
  ),
  linuxOnly(capabilities),
  volumes,
  runAsNonRoot,
  runAsUser,
  linuxOnly(seccomp),
];
