/** Directories of a program in the temporary directory. Their names tell whose they are, so that what a killed program left can be found. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify } from './process/process-identity.ts';

/** A new one. Whoever makes it removes it. */
export function scratchDirectory(name: string): string {
  return mkdtempSync(join(tmpdir(), `slurm-operator-${name}-${process.pid}-`));
}

const named = /^slurm-operator-[a-z-]+-(?<pid>\d+)-[A-Za-z0-9]{6}$/;

/** Those whose programs run no more. A directory of somebody else's, whatever its name begins with, is none of them. */
export function abandonedScratch(): string[] {
  return readdirSync(tmpdir(), { withFileTypes: true })
    .filter((entry) => {
      const pid = named.exec(entry.name)?.groups?.['pid'];
      return entry.isDirectory() && pid !== undefined && identify(Number(pid)) === undefined;
    })
    .map(({ name }) => join(tmpdir(), name));
}
