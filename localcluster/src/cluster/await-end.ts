import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterRecord } from './cluster-directory.ts';

/** Whether that process ended before the deadline. A zombie has ended; a later process with the same pid is another one. */
export async function awaitEnd(
  { pid, startTime }: Pick<ClusterRecord, 'pid' | 'startTime'>,
  timeoutMs: number,
): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; ; await delay(50)) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    const [state = 'X', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // The 22nd field of the line is the 19th after the state.
    if (['X', 'Z', ''].includes(state) || fields[18] !== startTime) return true;
    if (performance.now() > deadline) return false;
  }
}
