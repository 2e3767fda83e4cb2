/** Which control groups a machine has, read from its mount table. Pure. */
import { LocalClusterError } from '../../errors.ts';

export interface CgroupLayout {
  /** As the container runtime sees it: 2 only when the one hierarchy is mounted where the v1 directories would be. */
  readonly version: 1 | 2;
  /** Every directory below which a container's group appears. */
  readonly roots: readonly string[];
  /** The file that counts, for a group, how often the kernel killed for lack of memory. */
  readonly oomFile: (path: string) => string | undefined;
}

const place = '/sys/fs/cgroup';

/** `mounts` is the text of /proc/self/mounts. */
export function cgroupLayout(mounts: string): CgroupLayout {
  const all = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .map(([, target = '', type = '', options = '']) => ({ target, type, options: options.split(',') }));
  if (all.some(({ target, type }) => type === 'cgroup2' && target === place))
    return { version: 2, roots: [place], oomFile: (path) => `${place}/${trim(path)}/memory.events` };
  const hierarchies = all.filter(({ type }) => type === 'cgroup');
  if (hierarchies.length === 0)
    throw new LocalClusterError(
      'StartFailed',
      `no control groups are mounted below ${place}: containers cannot be limited on this machine; mount cgroup2 there.`,
    );
  const memory = hierarchies.find(({ options }) => options.includes('memory'));
  return {
    version: 1,
    // The runtime joins the one hierarchy too where it is mounted beside the others.
    roots: all.filter(({ type }) => type.startsWith('cgroup')).map(({ target }) => target),
    oomFile: (path) => memory && `${memory.target}/${trim(path)}/memory.oom_control`,
  };
}

/** Both versions call it `oom_kill`. */
export function oomKills(text: string): number {
  return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? '0');
}

const trim = (path: string) => path.replace(/^\/+/, '');
