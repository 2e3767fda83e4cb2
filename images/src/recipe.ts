import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountRequest, ImageConfig, RootFile } from '@slurm-operator/sandbox';
import type { SlurmVersion } from './slurm-version.ts';

/** One image: what is in it and how it starts. The Docker build and ours are both made from this. */
export interface ImageRecipe {
  readonly name: string;
  /** One sentence for people. */
  readonly about: string;
  /** Debian packages, without their recommended ones. */
  packages(version: SlurmVersion): readonly string[];
  readonly accounts: readonly AccountRequest[];
  readonly files: readonly RootFile[];
  /** Left out of the image; `*` matches within one name. */
  readonly remove?: readonly string[];
  readonly config: ImageConfig;
}

/** Slurm's account has the number that volumes of existing clusters are written with. */
export const slurmAccount: AccountRequest = { name: 'slurm', uid: 401, gid: 401, home: '/var/lib/slurm' };

/** A script of images/files, as it is in the image. */
export function script(name: string): RootFile {
  return {
    path: `/usr/libexec/slurm-operator/${name}`,
    content: readFileSync(join(import.meta.dirname, '../files', name), 'utf8'),
    mode: 0o755,
  };
}

/** A directory of the slurm account. */
export function slurmDirectory(path: string): RootFile {
  return { path, directory: true, mode: 0o755, uid: slurmAccount.uid, gid: slurmAccount.gid };
}

export const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Starts the program as a child of tini, which passes signals on and buries orphans. */
export function underTini(...command: readonly string[]): readonly string[] {
  return ['/usr/bin/tini', '-g', '--', ...command];
}
