import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, type ProcessIdentity, signalProcess } from '../process/process-identity.ts';
import { waitUntil } from '../process/wait-until.ts';
import type { Progress } from '../progress.ts';
import { removeCgroups } from './cgroups.ts';
import { type RecordContent, readRecord, sandboxesDirectory } from './sandbox-record.ts';
import { restoreSysctls } from './sysctls.ts';

export interface CleanOptions {
  /** Only this sandbox. Default: all of this cache directory, also those whose program still runs. */
  readonly name?: string;
  readonly progress?: Progress;
}

/** Undoes everything that recorded sandboxes have made on this machine, whatever became of their programs. */
export async function cleanSandboxes(options: CleanOptions = {}): Promise<string[]> {
  const names = options.name === undefined ? await sandboxNames() : [options.name];
  for (const name of names) {
    options.progress?.(`removing what is left of sandbox ${name}`);
    const directory = join(sandboxesDirectory(), name);
    const content = readRecord(directory);
    if (content !== undefined) await undo(content);
    await rm(directory, { recursive: true, force: true });
  }
  return names;
}

/** Ends the processes (and with them namespaces, mounts and interfaces), then cgroups, then kernel settings. */
export async function undo(content: RecordContent): Promise<void> {
  await endProcesses(content.processes);
  await removeCgroups(content.cgroups);
  await restoreSysctls(content.sysctls);
}

async function endProcesses(processes: readonly ProcessIdentity[]): Promise<void> {
  for (const process of processes) signalProcess(process, 'SIGKILL');
  await waitUntil(
    `processes ${processes.map(({ pid }) => pid).join(', ')} to end after SIGKILL`,
    () => !processes.some(isAlive),
    { intervalMs: 10 },
  );
}

async function sandboxNames(): Promise<string[]> {
  const names: string[] = await readdir(sandboxesDirectory()).catch(() => []);
  return names.toSorted();
}
