/**
 * A container of a pod as an OCI runtime specification (runc's config.json). Pure: paths, users and environment are
 * resolved before. No oom_score_adj and no rlimits are set: lowering the first and raising the others needs
 * CAP_SYS_RESOURCE, which root in many virtual machines does not have.
 */
import { bytes, milliCpu } from '@slurm-operator/kubernetes-values';
import type { ImageConfig } from '@slurm-operator/sandbox';
import type { Container, Pod } from '../../objects/objects.ts';
import { containerCapabilities } from './capabilities.ts';
import { defaultDevices, deviceRules } from './devices.ts';
import { expand } from './environment.ts';
import type { ContainerUser } from './user.ts';

export interface Mount {
  readonly destination: string;
  readonly source: string;
  readonly type: string;
  readonly options: readonly string[];
}

export interface SpecInput {
  readonly pod: Pod;
  readonly container: Container;
  readonly image: ImageConfig;
  readonly rootfs: string;
  readonly environment: ReadonlyMap<string, string>;
  readonly user: ContainerUser;
  /** Volumes and the files the agent provides (hosts, resolv.conf, termination log). */
  readonly mounts: readonly Mount[];
  /** The process, in the node's PID namespace, that holds the pod's network, IPC and UTS namespaces. */
  readonly sandboxPid: number;
  readonly cgroupsPath: string;
  readonly cgroupVersion: 1 | 2;
  readonly capabilities: readonly string[];
}

const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
];
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

export function buildOciSpec(input: SpecInput): Record<string, unknown> {
  const { container, pod, user } = input;
  const context = container.securityContext;
  const privileged = context?.privileged === true;
  const caps = containerCapabilities(container, input.capabilities);
  const held = user.uid === 0 ? caps : [];
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: container.tty === true,
      user: { uid: user.uid, gid: user.gid, additionalGids: user.additionalGids },
      args: commandOf(container, input.image, input.environment),
      env: [...withDefaults(input.environment, user, container)].map(([key, value]) => `${key}=${value}`),
      cwd: container.workingDir ?? input.image.workingDirectory ?? '/',
      capabilities: { bounding: caps, effective: held, permitted: held },
      noNewPrivileges: context?.allowPrivilegeEscalation === false,
    },
    root: { path: input.rootfs, readonly: context?.readOnlyRootFilesystem === true },
    mounts: [...systemMounts(privileged), ...input.mounts],
    linux: {
      cgroupsPath: input.cgroupsPath,
      resources: resourcesOf(container, privileged, input.cgroupVersion),
      namespaces: namespacesOf(pod, privileged, input),
      devices: privileged ? [] : defaultDevices,
      ...(pod.spec.securityContext?.sysctls === undefined
        ? {}
        : {
            sysctl: Object.fromEntries(
              pod.spec.securityContext.sysctls.map(({ name, value }) => [name, value]),
            ),
          }),
      ...(privileged ? {} : { maskedPaths, readonlyPaths }),
      rootfsPropagation: 'private',
    },
  };
}

/** `command` replaces the entrypoint and with it the image's arguments; `args` replaces only the arguments. */
export function commandOf(
  container: Container,
  image: ImageConfig,
  environment: ReadonlyMap<string, string>,
): string[] {
  const own = container.command ?? [];
  const entry = own.length > 0 ? own.map((part) => expand(part, environment)) : [...(image.entrypoint ?? [])];
  const given = container.args ?? [];
  const args =
    given.length > 0
      ? given.map((part) => expand(part, environment))
      : own.length > 0
        ? []
        : [...(image.command ?? [])];
  return [...entry, ...args];
}

function withDefaults(environment: ReadonlyMap<string, string>, user: ContainerUser, container: Container) {
  const result = new Map([
    ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['HOME', user.home],
    ...(container.tty === true ? [['TERM', 'xterm'] as const] : []),
  ]);
  for (const [key, value] of environment) result.set(key, value);
  return result;
}

function namespacesOf(pod: Pod, privileged: boolean, { sandboxPid, cgroupVersion }: SpecInput) {
  const shared = (type: string, file: string) => ({ type, path: `/proc/${sandboxPid}/ns/${file}` });
  return [
    { type: 'mount' },
    ...(pod.spec.hostPID === true
      ? []
      : pod.spec.shareProcessNamespace === true
        ? [shared('pid', 'pid_for_children')]
        : [{ type: 'pid' }]),
    ...(pod.spec.hostNetwork === true ? [] : [shared('network', 'net')]),
    ...(pod.spec.hostIPC === true ? [] : [shared('ipc', 'ipc')]),
    shared('uts', 'uts'),
    // With cgroup v2 a container sees only its own subtree, as on a real node; v1 has no such custom.
    ...(cgroupVersion === 2 && !privileged ? [{ type: 'cgroup' }] : []),
  ];
}

function resourcesOf(container: Container, privileged: boolean, cgroupVersion: 1 | 2) {
  const limits = container.resources?.limits ?? {};
  const requests = container.resources?.requests ?? {};
  const memory = bytes(limits['memory']);
  const cpuLimit = milliCpu(limits['cpu']);
  const cpuRequest = milliCpu(requests['cpu'] ?? limits['cpu']);
  return {
    devices: deviceRules(privileged),
    // Swap equal to memory: a limit that swap could stretch is none. With v1 the kernel may not count swap at all, and
    // then refuses to be told.
    ...(memory > 0 ? { memory: { limit: memory, ...(cgroupVersion === 2 ? { swap: memory } : {}) } } : {}),
    cpu: {
      shares: Math.max(2, Math.floor((cpuRequest * 1024) / 1000)),
      ...(cpuLimit > 0 ? { period: 100_000, quota: Math.max(1000, cpuLimit * 100) } : {}),
    },
  };
}

function systemMounts(privileged: boolean): Mount[] {
  const sys = privileged ? 'rw' : 'ro';
  return [
    { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
    {
      destination: '/dev',
      type: 'tmpfs',
      source: 'tmpfs',
      options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
    },
    {
      destination: '/dev/pts',
      type: 'devpts',
      source: 'devpts',
      options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620', 'gid=5'],
    },
    {
      destination: '/dev/shm',
      type: 'tmpfs',
      source: 'shm',
      options: ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'],
    },
    { destination: '/dev/mqueue', type: 'mqueue', source: 'mqueue', options: ['nosuid', 'noexec', 'nodev'] },
    { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['nosuid', 'noexec', 'nodev', sys] },
    {
      destination: '/sys/fs/cgroup',
      type: 'cgroup',
      source: 'cgroup',
      options: ['nosuid', 'noexec', 'nodev', 'relatime', sys],
    },
  ];
}
