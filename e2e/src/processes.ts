import { readdirSync, readFileSync } from 'node:fs';

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
