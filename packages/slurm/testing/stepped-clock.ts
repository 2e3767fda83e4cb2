/** A wall clock that tests can set, for one real daemon: Debian's libfaketime between the daemon and its C library. */
import { chmod, copyFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackTools } from '@slurm-operator/sandbox';

/** Where the daemon finds the library and the file with the offset. */
export const clockDirectory = '/opt/stepped-clock';

export interface SteppedClock {
  /** On this machine; to be mounted at `clockDirectory`. */
  readonly directory: string;
  /** What the daemon must be started with. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock that many seconds ahead of the real one, or behind it. The daemon follows within a second. */
  set(seconds: number): Promise<void>;
}

/** The monotonic clock stays as it is: a step of the wall clock does not move it. */
const env = {
  LD_PRELOAD: `${clockDirectory}/libfaketime.so`,
  FAKETIME_TIMESTAMP_FILE: `${clockDirectory}/offset`,
  FAKETIME_CACHE_DURATION: '1',
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
  FAKETIME_DISABLE_SHM: '1',
};

/** Files are put into `directory`, which is created where it does not exist. */
export async function steppedClock(directory: string): Promise<SteppedClock> {
  // Of the older of the two releases: a library runs with a newer C library, but not with an older one.
  const { root } = await unpackTools({ suite: 'trixie', packages: ['libfaketime'] });
  const libraries = join(root, 'usr/lib');
  const architecture = (await readdir(libraries)).find((name) => name.endsWith('-linux-gnu')) ?? '';
  await mkdir(directory, { recursive: true });
  await copyFile(
    join(libraries, architecture, 'faketime/libfaketimeMT.so.1'),
    join(directory, 'libfaketime.so'),
  );
  const offset = join(directory, 'offset');
  const set = async (seconds: number) => {
    // In one step: a daemon that reads it meanwhile gets the old offset or the new one.
    const draft = `${offset}.draft`;
    await writeFile(draft, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
    await chmod(draft, 0o644);
    await rename(draft, offset);
  };
  await set(0);
  await chmod(directory, 0o755);
  return { directory, env, set };
}
