/** Snapshots on disk: one JSON file, written beside its place and renamed, so that a crash leaves the old or the new one. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseExact, stringifyExact } from '../api/json.ts';
import type { StoreSnapshot } from './store.ts';

const format = 'apiserver-snapshot/1';

export async function writeSnapshotFile(file: string, snapshot: StoreSnapshot): Promise<void> {
  const beside = `${file}.${process.pid}.new`;
  await writeFile(beside, stringifyExact({ format, ...snapshot }), { mode: 0o600 });
  await rename(beside, file);
}

/** The snapshot in the file, or undefined when there is no such file. */
export async function readSnapshotFile(file: string): Promise<StoreSnapshot | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`cannot read the snapshot ${file}`, { cause: error });
  }
  const parsed = parseExact(text) as StoreSnapshot & { format?: string };
  if (parsed.format !== format)
    throw new Error(
      `${file} is no snapshot of this server: its format is ${String(parsed.format)}, not ${format}`,
    );
  return { revision: parsed.revision, resources: parsed.resources };
}
