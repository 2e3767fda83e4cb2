/** What a cluster of a given name leaves on the machine while it runs, for tests that want to see it gone. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `state` is the directory that XDG_STATE_HOME names. Processes, directories and control groups. */
export function clusterTraces(name: string, state: string): string[] {
  const directory = join(state, 'slurm-operator', 'localcluster', name);
  return [
    ...(existsSync(directory) ? [directory] : []),
    // One hierarchy on cgroup v2, one directory per controller on v1.
    ...globSync(`/sys/fs/cgroup/{,*/}localcluster-${name}`),
    ...processesOf(name),
  ];
}

/** Processes that carry the name of one of its nodes, or that serve it. */
function processesOf(name: string): string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      let words: string;
      try {
        words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      } catch {
        return []; // it ended meanwhile
      }
      const ours = words.includes(`${name}-node-`) || words.includes(`"name":"${name}"`);
      return ours ? [`process ${pid}: ${words.slice(0, 100)}`] : [];
    });
}
