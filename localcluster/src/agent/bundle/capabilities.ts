/** Linux capabilities of a container: the usual defaults, changed by `add` and `drop`, bounded by what this machine has. */
import type { Container } from '../../objects/objects.ts';

/** In the kernel's order: the position is the bit in /proc/self/status. */
const all = [
  'CHOWN',
  'DAC_OVERRIDE',
  'DAC_READ_SEARCH',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'LINUX_IMMUTABLE',
  'NET_BIND_SERVICE',
  'NET_BROADCAST',
  'NET_ADMIN',
  'NET_RAW',
  'IPC_LOCK',
  'IPC_OWNER',
  'SYS_MODULE',
  'SYS_RAWIO',
  'SYS_CHROOT',
  'SYS_PTRACE',
  'SYS_PACCT',
  'SYS_ADMIN',
  'SYS_BOOT',
  'SYS_NICE',
  'SYS_RESOURCE',
  'SYS_TIME',
  'SYS_TTY_CONFIG',
  'MKNOD',
  'LEASE',
  'AUDIT_WRITE',
  'AUDIT_CONTROL',
  'SETFCAP',
  'MAC_OVERRIDE',
  'MAC_ADMIN',
  'SYSLOG',
  'WAKE_ALARM',
  'BLOCK_SUSPEND',
  'AUDIT_READ',
  'PERFMON',
  'BPF',
  'CHECKPOINT_RESTORE',
] as const;

const defaults: readonly string[] = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FSETID',
  'FOWNER',
  'MKNOD',
  'NET_RAW',
  'SETGID',
  'SETUID',
  'SETFCAP',
  'SETPCAP',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'KILL',
  'AUDIT_WRITE',
];

/** The names of the bits set in a mask as /proc prints it. */
export function capabilitiesOf(mask: string): string[] {
  const bits = BigInt(`0x${mask}`);
  return all.filter((_, bit) => (bits >> BigInt(bit)) & 1n);
}

/** `available` is this machine's own bounding set: asking runc for more than that fails. */
export function containerCapabilities(container: Container, available: readonly string[]): string[] {
  const context = container.securityContext;
  const bare = (name: string) => name.toUpperCase().replace(/^CAP_/, '');
  const drop = (context?.capabilities?.drop ?? []).map(bare);
  const add = (context?.capabilities?.add ?? []).map(bare);
  let wanted: readonly string[] = context?.privileged === true ? all : defaults;
  wanted = drop.includes('ALL') ? [] : wanted.filter((name) => !drop.includes(name));
  if (add.includes('ALL')) wanted = all.filter((name) => !drop.includes(name));
  const set = new Set([...wanted, ...add]);
  return all.filter((name) => set.has(name) && available.includes(name)).map((name) => `CAP_${name}`);
}
