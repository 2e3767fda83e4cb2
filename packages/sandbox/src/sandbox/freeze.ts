import { readlinkSync } from 'node:fs';
import { allProcesses, descendants, readStat } from '../process/process-identity.ts';
import { waitUntil } from '../process/wait-until.ts';

/** Every process of a pid namespace, those in namespaces below it included. `first` is its process 1 seen from here. */
export function processesInside(first: number): number[] {
  const namespace = pidNamespace(first);
  if (namespace === undefined) return [];
  const inside = new Set(allProcesses().filter((pid) => pidNamespace(pid) === namespace));
  for (const pid of descendants(first)) inside.add(pid);
  return [...inside];
}

/** Stops every process inside. Looks until a look finds nothing new: a process may fork while it is being stopped. */
export async function freeze(first: number): Promise<void> {
  await waitUntil(
    'all processes of the box to stop',
    () => {
      const running = processesInside(first).filter(
        (pid) => !['T', 't', 'Z', 'X'].includes(readStat(pid)?.state ?? 'X'),
      );
      for (const pid of running) send(pid, 'SIGSTOP');
      return running.length === 0;
    },
    { intervalMs: 5 },
  );
}

/** Resumes every process inside, children first: no process gets a request before it can respond. */
export function thaw(first: number): void {
  for (const pid of processesInside(first).toReversed()) send(pid, 'SIGCONT');
}

function pidNamespace(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended already.
  }
}
