/** What a sandbox could leave on the machine, for tests that compare before and after. */
import { existsSync, globSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxesDirectory } from '../src/sandbox/sandbox-record.ts';

const kinds = ['net', 'mnt', 'uts', 'ipc', 'pid'] as const;

/** Every namespace that some process is in, as `net:[4026531840]`. */
export function namespaces(pids: readonly (number | string)[] = processes()): Set<string> {
  const found = new Set<string>();
  for (const pid of pids)
    for (const kind of kinds) {
      try {
        found.add(readlinkSync(`/proc/${pid}/ns/${kind}`));
      } catch {
        // It ended meanwhile.
      }
    }
  return found;
}

/** The namespaces of these processes that are not the machine's own. */
export function ownNamespaces(pids: readonly number[]): Set<string> {
  return namespaces(pids).difference(namespaces(['self']));
}

/** What of a sandbox of this name, and of no other, is visible on the machine besides processes and namespaces. */
export function traces(name: string) {
  return {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`/sandboxes/${name}/`)),
    interfaces: interfacesOf(name),
    cgroups: globSync(`/sys/fs/cgroup/{,*/}${name}-*`).toSorted(byText),
    namedNamespaces: existsSync('/run/netns')
      ? readdirSync('/run/netns').filter((entry) => entry.includes(name))
      : [],
    files: existsSync(join(sandboxesDirectory(), name)),
  };
}

/** Interfaces of the machine that carry the mark of this sandbox. */
export function interfacesOf(name: string): string[] {
  const directory = '/sys/class/net';
  return readdirSync(directory)
    .filter((entry) => {
      try {
        return readFileSync(join(directory, entry, 'ifalias'), 'utf8').trim() === `sandbox:${name}`;
      } catch {
        return false; // not an interface, or gone meanwhile
      }
    })
    .toSorted(byText);
}

function processes(): string[] {
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
