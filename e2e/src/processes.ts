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
      return read('comm').trim() === program && read('cgroup').includes(`localcluster-${cluster}/`);
    })
    .map(Number);
}
