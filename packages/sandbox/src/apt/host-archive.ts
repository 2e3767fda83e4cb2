import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PrerequisiteError } from '../errors.ts';
import { type AptSource, baseArchive, parseDeb822Sources, parseOneLineSources } from './sources.ts';

export interface HostArchive extends AptSource {
  /** The release this machine runs, for example `bookworm`. */
  readonly codename: string;
}

/** The Debian archive that this machine's own apt uses; it serves every suite, not only the machine's. */
export async function hostArchive(etc = '/etc'): Promise<HostArchive> {
  const release = await readOrEmpty(join(etc, 'os-release'));
  const codename = /^VERSION_CODENAME="?([a-z]+)/m.exec(release)?.[1];
  if (codename === undefined || !/^ID="?debian"?$/m.test(release))
    throw new PrerequisiteError(
      'This machine does not run Debian, whose archive root file systems and tools are made from: use Debian 12 or later.',
    );
  const parts = join(etc, 'apt/sources.list.d');
  const sources = parseOneLineSources(await readOrEmpty(join(etc, 'apt/sources.list')));
  for (const name of await namesIn(parts)) {
    const text = () => readOrEmpty(join(parts, name));
    if (name.endsWith('.list')) sources.push(...parseOneLineSources(await text()));
    if (name.endsWith('.sources')) sources.push(...parseDeb822Sources(await text()));
  }
  const archive = baseArchive(sources, codename);
  if (archive === undefined)
    throw new PrerequisiteError(
      `No source in ${join(etc, 'apt')} serves ${codename} main: add a Debian mirror there.`,
    );
  return { ...archive, codename };
}

async function readOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

async function namesIn(directory: string): Promise<string[]> {
  const names: string[] = await readdir(directory).catch(() => []);
  return names.toSorted();
}
