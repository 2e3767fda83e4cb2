import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountRequest, ImageConfig, RootFile, Suite } from '@slurm-operator/sandbox';

/** One image: what is in it and how it starts. The Docker build and ours are both made from this. */
export interface ImageRecipe {
  readonly name: string;
  /** One sentence for people. */
  readonly about: string;
  /** The versions it is made in, the usual one first. */
  readonly versions: readonly string[];
  /** The Debian release that has this version. */
  suite(version: string): Suite;
  /** Other releases, for what that one lacks. */
  alsoFrom?(version: string): readonly Suite[];
  /** Debian packages, without their recommended ones. */
  readonly packages: readonly string[];
  /** Answers to questions that packages ask when they are installed. */
  readonly answers?: readonly string[];
  readonly accounts: readonly AccountRequest[];
  readonly files: readonly RootFile[];
  /** Run in the image at the end of its build. */
  readonly commands?: readonly (readonly string[])[];
  /** Left out of the image; `*` matches within one name, `**` any directories. */
  readonly remove?: readonly string[];
  readonly config: ImageConfig;
}

/** A script of images/files, as it is in the image. */
export function script(name: string): RootFile {
  return {
    path: `/usr/libexec/slurm-operator/${name}`,
    content: readFileSync(join(import.meta.dirname, '../files', name), 'utf8'),
    mode: 0o755,
  };
}

export const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Starts the program as a child of tini, which passes signals on and buries orphans. */
export function underTini(...command: readonly string[]): readonly string[] {
  return ['/usr/bin/tini', '-g', '--', ...command];
}
