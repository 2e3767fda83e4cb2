/** How a box's process is put on its stage: which mounts, in which order. Builds command lines only; no I/O. */

export interface BoxMount {
  /** A file or directory of the machine. */
  readonly source: string;
  /** Absolute path inside the box; made when it is missing and the box has a root of its own. */
  readonly target: string;
  readonly readOnly?: boolean;
}

export interface StagePlan {
  /** The overlay of the box; none for a box on the machine's own files. */
  readonly overlay?: {
    readonly root: string;
    readonly lowers: readonly string[];
    readonly upper: string;
    readonly work: string;
  };
  readonly mounts: readonly BoxMount[];
  readonly tmpfs: readonly string[];
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly command: readonly string[];
}

/**
 * Runs as the first process of the new mount and pid namespaces. It gets every value as an argument, so that no path
 * or command is ever read as shell text. $1 = root ("" for none), $2 = overlay options, then mounts as
 * "bind"|"robind"|"tmpfs" source target triples up to "--", then the command that it becomes.
 * A line on descriptor 3 says that all mounts are there; a line from it lets the command begin, so that the caller that
 * started the box knows its process before that process can end.
 */
const script = `set -eu
root=$1 overlay=$2; shift 2
if [ -n "$root" ]; then
  mount -t overlay -o "$overlay" box "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t tmpfs -o mode=755,size=4m dev "$root/dev"
  for node in null zero full random urandom tty; do
    : > "$root/dev/$node"; mount --bind "/dev/$node" "$root/dev/$node"
  done
  mkdir "$root/dev/pts" "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
  mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  ln -s fd/0 "$root/dev/stdin"; ln -s fd/1 "$root/dev/stdout"; ln -s fd/2 "$root/dev/stderr"
else
  mount -t proc proc /proc
fi
while [ "$1" != -- ]; do
  case $1 in
    bind) mount --bind "$2" "$root$3" ;;
    robind) mount --bind "$2" "$root$3"; mount -o remount,bind,ro "$root$3" ;;
    tmpfs) mount -t tmpfs -o mode=1777 tmpfs "$root$3" ;;
  esac
  shift 3
done
shift
echo ready >&3
read -r go <&3
exec 3>&-
exec "$@"`;

/** The arguments for `sh` that set the stage and become the box's command. */
export function stageArguments(plan: StagePlan): string[] {
  const { overlay } = plan;
  const options =
    overlay === undefined
      ? ''
      : `lowerdir=${overlay.lowers.join(':')},upperdir=${overlay.upper},workdir=${overlay.work}`;
  const mounts = plan.mounts.flatMap((mount) => [
    mount.readOnly === true ? 'robind' : 'bind',
    mount.source,
    mount.target,
  ]);
  const tmpfs = plan.tmpfs.flatMap((target) => ['tmpfs', '-', target]);
  return [
    '-c',
    script,
    'box',
    overlay?.root ?? '',
    options,
    ...tmpfs,
    ...mounts,
    '--',
    // chroot(8) also changes the account; with "/" it stays on the machine's files.
    '/usr/sbin/chroot',
    `--userspec=+${plan.uid}:+${plan.gid}`,
    `--groups=${plan.groups.join(',')}`,
    overlay?.root ?? '/',
    ...plan.command,
  ];
}
