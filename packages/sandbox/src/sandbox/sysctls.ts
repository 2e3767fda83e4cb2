import { readFile, writeFile } from 'node:fs/promises';
import { InvalidRequestError } from '../errors.ts';
import type { SandboxRecord } from './sandbox-record.ts';

/** Changes a kernel setting of the machine; the value from before is recorded first and comes back at the end. */
export async function setSysctl(record: SandboxRecord, name: string, value: string): Promise<void> {
  const path = sysctlPath(name);
  const before = (await readFile(path, 'utf8')).trim();
  if (before === value) return;
  record.addSysctl(name, before);
  await writeFile(path, value);
}

export async function restoreSysctls(sysctls: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, before] of Object.entries(sysctls)) await writeFile(sysctlPath(name), before);
}

function sysctlPath(name: string): string {
  if (!/^[a-z0-9_]+(\.[A-Za-z0-9_-]+)+$/.test(name))
    throw new InvalidRequestError(`sysctl "${name}" is not a name such as "vm.overcommit_memory".`);
  return `/proc/sys/${name.replaceAll('.', '/')}`;
}
