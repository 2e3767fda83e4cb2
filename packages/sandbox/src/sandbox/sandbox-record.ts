/**
 * What a sandbox has created on the machine, written to disk before it is created. A program that finds the record can undo
 * all of it: see clean-sandboxes.ts.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory } from '../directories.ts';
import type { ProcessIdentity } from '../process/process-identity.ts';

export interface RecordedProcess extends ProcessIdentity {
  readonly what: string;
}

export interface RecordContent {
  readonly name: string;
  /** The program that made the sandbox. */
  readonly owner: ProcessIdentity;
  /** Namespaces, mounts and interfaces exist as long as these processes. */
  readonly processes: readonly RecordedProcess[];
  /** Directories in the cgroup file systems. */
  readonly cgroups: readonly string[];
  /** Kernel settings of the machine and their values from before. */
  readonly sysctls: Readonly<Record<string, string>>;
}

export function sandboxesDirectory(): string {
  return join(cacheDirectory(), 'sandboxes');
}

const fileName = 'made.json';

export class SandboxRecord {
  readonly directory: string;
  #content: RecordContent;
  #closed = false;

  constructor(directory: string, content: RecordContent) {
    this.directory = directory;
    this.#content = content;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#save();
  }

  /** The content for the last time: from here on nothing is written any more. */
  close(): RecordContent {
    this.#closed = true;
    return this.#content;
  }

  addProcess(process: RecordedProcess): void {
    this.#change({ processes: [...this.#content.processes, process] });
  }

  removeProcess(process: ProcessIdentity): void {
    this.#change({
      processes: this.#content.processes.filter(
        (other) => other.pid !== process.pid || other.startTime !== process.startTime,
      ),
    });
  }

  addCgroups(paths: readonly string[]): void {
    this.#change({ cgroups: [...this.#content.cgroups, ...paths] });
  }

  /** Keeps the first value seen: that is the machine's own. */
  addSysctl(name: string, before: string): void {
    this.#change({ sysctls: { [name]: before, ...this.#content.sysctls } });
  }

  #change(part: Partial<RecordContent>): void {
    this.#content = { ...this.#content, ...part };
    this.#save();
  }

  // Synchronous on purpose: nothing may happen between making a thing and writing it down.
  #save(): void {
    if (this.#closed) return;
    const path = join(this.directory, fileName);
    writeFileSync(`${path}.new`, JSON.stringify(this.#content, undefined, 2));
    renameSync(`${path}.new`, path);
  }
}

export function readRecord(directory: string): RecordContent | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, fileName), 'utf8')) as RecordContent;
  } catch {
    return undefined;
  }
}
