/** Finds and signals the processes of Slurm's daemons. */
import { readdirSync, readFileSync } from 'node:fs';
import { type Client, exec, KubeError, type ObjectRef } from '@slurm-operator/kube';

/** Pids of a program inside the containers of one cluster of this machine, and of no other. */
export function pidsInCluster(cluster: string, program: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const read = (file: string) => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, 'utf8');
        } catch {
          return '';
        }
      };
      // Also by argv[0]: a daemon that was reconfigured has executed itself again, as "exe".
      const called = read('cmdline').split('\0', 1)[0]?.split('/').at(-1);
      return (
        (read('comm').trim() === program || called === program) &&
        read('cgroup').includes(`localcluster-${cluster}/`)
      );
    })
    .map(Number);
}

/**
 * Lines for bash in the container of a daemon, run once for each of its processes, `$pid`. It is found by the name that it was called
 * by: a slurmctld that was reconfigured has executed itself again, and Debian's has a suffix.
 */
export const forDaemon = (daemon: string, lines: string): string => `for each in /proc/[0-9]*; do
  pid=\${each#/proc/}
  called=$(tr '\\0' '\\n' 2>/dev/null <"$each/cmdline" | head -n 1)
  case "\${called##*/}" in ${daemon} | ${daemon}-wlm) ${lines} ;; esac
done`;

/** Sends a signal to a daemon of Slurm inside its container. */
export async function signalDaemon(
  client: Client,
  ref: ObjectRef,
  daemon: string,
  signal: 'KILL' | 'STOP' | 'CONT',
): Promise<void> {
  const command = ['bash', '-c', forDaemon(daemon, `kill -${signal} "$pid"`)];
  try {
    const { exitCode, stderr } = await exec(client, ref, command, { container: daemon, timeout: 60_000 });
    if (exitCode !== 0 && signal !== 'KILL') throw new Error(`kill -${signal} ${daemon}: ${stderr}`);
  } catch (error) {
    // A container that ends by it takes the connection along.
    if (signal !== 'KILL' || !(error instanceof KubeError)) throw error;
  }
}
