import { readlinkSync } from 'node:fs';
import { SandboxError } from '../errors.ts';
import { waitUntil } from '../process/wait-until.ts';
import { type HeldProcess, holdProcess } from './held-process.ts';
import type { HostPrograms } from './host-programs.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/**
 * A sleeping process whose only purpose is to keep a network (and host name, and IPC) namespace. There is no name
 * for it anywhere in the file system, so there is nothing to clean up but the process.
 */
export async function holdNamespaces(
  programs: HostPrograms,
  record: SandboxRecord,
  what: string,
  hostname: string,
): Promise<HeldProcess> {
  const holder = holdProcess(programs, record, {
    what,
    command: [
      programs.unshare,
      '--net',
      '--uts',
      '--ipc',
      programs.sh,
      '-c',
      'hostname "$1" && exec sleep infinity',
      'holder',
      hostname,
    ],
  });
  const ours = readlinkSync('/proc/self/ns/net');
  await waitUntil(
    `the namespaces of ${what}`,
    () => {
      if (holder.child.exitCode !== null)
        throw new SandboxError('START_FAILED', `the namespaces of ${what} cannot be made: unshare ended`);
      const { pid } = holder.identity;
      // The last of its steps is to become `sleep`: then host name and namespaces are in place.
      return (
        readlinkSync(`/proc/${pid}/ns/net`) !== ours && readlinkSync(`/proc/${pid}/exe`).endsWith('sleep')
      );
    },
    { intervalMs: 2, timeoutMs: 10_000 },
  );
  return holder;
}
