/** The standard "baseline": what no ordinary workload needs. Pure. */
import type { ISELinuxOptions } from 'kubernetes-models/v1/SELinuxOptions';
import { type Check, type Container, containersOf, eachContainer, named, quoted } from './pod-view.ts';

const CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);
const SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]);
const SELINUX_TYPES = new Set([
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
]);
const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

const hostNamespaces: Check = ({ spec }) => {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name] === true);
  return used.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: used.map((name) => `${name}=true`).join(', ') };
};

export const hostPathVolumes: Check = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  return names.length === 0 ? undefined : { reason: 'hostPath volumes', detail: named('volume', names) };
};

const hostPorts: Check = (pod) => {
  const ports = (container: Container) =>
    (container.ports ?? []).flatMap(({ hostPort }) => (hostPort ? [hostPort] : []));
  const users = containersOf(pod).filter((container) => ports(container).length > 0);
  if (users.length === 0) return undefined;
  const used = [...new Set(users.flatMap(ports))].toSorted((a, b) => a - b);
  const names = users.map(({ name }) => name);
  return {
    reason: 'hostPort',
    detail: `${named('container', names)} ${names.length === 1 ? 'uses' : 'use'} hostPort${used.length === 1 ? '' : 's'} ${used.join(', ')}`,
  };
};

/** Whatever is added beyond `allowed`; also used by the stricter standard. */
export function addedBeyond(allowed: ReadonlySet<string>, reason: string): Check {
  return (pod) => {
    const extra = (container: Container) =>
      (container.securityContext?.capabilities?.add ?? []).filter((name) => !allowed.has(name));
    const users = containersOf(pod).filter((container) => extra(container).length > 0);
    if (users.length === 0) return undefined;
    const names = users.map(({ name }) => name);
    const capabilities = [...new Set(users.flatMap(extra))].toSorted();
    return {
      reason,
      detail: `${named('container', names)} must not include ${quoted(capabilities)} in securityContext.capabilities.add`,
    };
  };
}

const seLinux: Check = (pod) => {
  const offends = (options: ISELinuxOptions | undefined) =>
    options !== undefined &&
    (!SELINUX_TYPES.has(options.type ?? '') || Boolean(options.user) || Boolean(options.role));
  const places = [
    ...(offends(pod.spec.securityContext?.seLinuxOptions) ? ['pod'] : []),
    ...containersOf(pod)
      .filter(({ securityContext }) => offends(securityContext?.seLinuxOptions))
      .map(({ name }) => `container "${name}"`),
  ];
  if (places.length === 0) return undefined;
  return {
    reason: 'seLinuxOptions',
    detail: `${places.join(', ')} set forbidden securityContext.seLinuxOptions`,
  };
};

const appArmor: Check = (pod) => {
  const unconfined = (context: { appArmorProfile?: { type?: string } } | undefined) =>
    context?.appArmorProfile?.type === 'Unconfined';
  const annotated = Object.entries(pod.annotations)
    .filter(
      ([name, value]) =>
        name.startsWith(APPARMOR_ANNOTATION) && !/^(?:runtime\/default|localhost\/.*)?$/.test(value),
    )
    .map(([name, value]) => `${name}="${value}"`);
  const places = [
    ...(unconfined(pod.spec.securityContext)
      ? ['pod must not set AppArmor profile type to "Unconfined"']
      : []),
    ...containersOf(pod)
      .filter(({ securityContext }) => unconfined(securityContext))
      .map(({ name }) => `container "${name}" must not set AppArmor profile type to "Unconfined"`),
    ...annotated,
  ];
  if (places.length === 0) return undefined;
  return { reason: `forbidden AppArmor profile${places.length === 1 ? '' : 's'}`, detail: places.join(', ') };
};

export const seccompUnconfined: Check = (pod) => {
  const names = containersOf(pod)
    .filter(({ securityContext }) => securityContext?.seccompProfile?.type === 'Unconfined')
    .map(({ name }) => name);
  const places = [
    ...(pod.spec.securityContext?.seccompProfile?.type === 'Unconfined' ? ['pod'] : []),
    ...(names.length === 0 ? [] : [named('container', names)]),
  ];
  if (places.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `${places.join(' and ')} must not set securityContext.seccompProfile.type to "Unconfined"`,
  };
};

const sysctls: Check = ({ spec }) => {
  const names = (spec.securityContext?.sysctls ?? [])
    .map(({ name }) => name)
    .filter((name) => !SYSCTLS.has(name));
  return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') };
};

const hostProcess: Check = (pod) => {
  const offends = (context: { windowsOptions?: { hostProcess?: boolean } } | undefined) =>
    context?.windowsOptions?.hostProcess === true;
  const names = containersOf(pod)
    .filter((one) => offends(one.securityContext))
    .map(({ name }) => name);
  const places = [
    ...(offends(pod.spec.securityContext) ? ['pod'] : []),
    ...(names.length === 0 ? [] : [named('container', names)]),
  ];
  if (places.length === 0) return undefined;
  return {
    reason: 'hostProcess',
    detail: `${places.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

const capabilities = addedBeyond(CAPABILITIES, 'non-default capabilities');

/** In the order in which violations are told. */
export const baselineChecks: readonly Check[] = [
  appArmor,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  eachContainer(
    'privileged',
    ({ securityContext }) => securityContext?.privileged === true,
    'must not set securityContext.privileged=true',
  ),
  eachContainer(
    'procMount',
    ({ securityContext }) => !['', 'Default'].includes(securityContext?.procMount ?? ''),
    'must not set securityContext.procMount to other than "Default"',
  ),
  seLinux,
  seccompUnconfined,
  sysctls,
  hostProcess,
];

/** What the stricter standard says in its own, stricter way. */
export const replacedByRestricted: readonly Check[] = [capabilities, hostPathVolumes, seccompUnconfined];
