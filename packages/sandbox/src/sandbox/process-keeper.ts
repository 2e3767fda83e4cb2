import { SandboxError } from '../errors.ts';
import type { ProcessIdentity } from '../process/process-identity.ts';
import { waitUntil } from '../process/wait-until.ts';
import { holdProcess } from './held-process.ts';
import type { HostPrograms } from './host-programs.ts';
import { firstChild } from './observe.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/**
 * A pid namespace around those of all boxes; the answer is its process 1, with which the kernel ends everything inside.
 *
 * The kernel forgets "end me with my parent" when a process changes its account, so a daemon that is not root would
 * outlive a killed program. This process 1 stays root, ends with the program, and takes every box along.
 */
export async function keepProcesses(programs: HostPrograms, record: SandboxRecord): Promise<ProcessIdentity> {
  const keeper = holdProcess(programs, record, {
    what: 'keeper of processes',
    command: [programs.unshare, '--pid', '--fork', '--kill-child', 'sleep', 'infinity'],
  });
  const first = await waitUntil(
    'the namespace of processes',
    () => {
      if (keeper.child.exitCode !== null)
        throw new SandboxError('START_FAILED', 'the namespace of processes cannot be made: unshare ended');
      return firstChild(keeper.identity.pid);
    },
    { intervalMs: 2, timeoutMs: 10_000 },
  );
  record.addProcess({ ...first, what: 'process 1 around all boxes' });
  return first;
}
