import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidRequestError } from '../errors.ts';
import type { Rootfs } from '../rootfs/build-rootfs.ts';
import { type RootFile, writeRootFiles } from '../rootfs/root-files.ts';
import { type Account, findAccount } from './box-account.ts';
import type { BoxMount, StagePlan } from './box-stage.ts';
import { OverlayView } from './overlay-view.ts';

export interface BoxFilesOptions {
  /** A root file system, or directories as layers, topmost first. Default: the machine's own files. */
  readonly rootfs?: Rootfs | string | readonly string[];
  readonly mounts?: readonly BoxMount[];
  /** Paths that get a fresh memory file system at each start. */
  readonly tmpfs?: readonly string[];
  /** Written into the box's own layer once, before its first start. Needs a rootfs. */
  readonly files?: readonly RootFile[];
}

/** The files of one box: its root, its own layer over it, and what is mounted into it. */
export class BoxFiles {
  readonly #box: string;
  readonly #options: BoxFilesOptions;
  readonly #directory: string;
  readonly #view: OverlayView | undefined;
  #written = false;

  /** `directory` holds the box's own layer. */
  constructor(box: string, options: BoxFilesOptions, directory: string) {
    this.#box = box;
    this.#options = options;
    this.#directory = directory;
    const { rootfs } = options;
    if (rootfs === undefined) {
      if (options.files !== undefined)
        throw new InvalidRequestError(`box ${box} has "files" but no rootfs to put them into.`);
      return;
    }
    const layers = typeof rootfs === 'string' ? [rootfs] : 'path' in rootfs ? [rootfs.path] : rootfs;
    for (const layer of layers)
      if (/[:,\\]/.test(layer))
        throw new InvalidRequestError(`rootfs "${layer}" of box ${box} may not hold ":", "," or "\\".`);
    this.#view = new OverlayView(join(directory, 'upper'), layers);
  }

  /** Makes every place where something will be mounted, and says what is to be mounted. */
  async prepare(): Promise<Pick<StagePlan, 'overlay' | 'mounts' | 'tmpfs'>> {
    const { mounts = [], tmpfs = [], files = [] } = this.#options;
    const view = this.#view;
    if (view === undefined) return { mounts, tmpfs };
    const [root, work] = [join(this.#directory, 'root'), join(this.#directory, 'work')];
    for (const path of [root, work, view.upper]) await mkdir(path, { recursive: true });
    if (!this.#written) for (const file of files) await view.write(file);
    this.#written = true;
    for (const path of ['/proc', '/sys', '/dev']) await view.ensureMountPoint(path, 'directory');
    const targets: BoxMount[] = [];
    for (const mount of mounts) {
      const kind = (await stat(mount.source)).isDirectory() ? 'directory' : 'file';
      targets.push({ ...mount, target: await view.ensureMountPoint(mount.target, kind) });
    }
    const memory: string[] = [];
    for (const path of tmpfs) memory.push(await view.ensureMountPoint(path, 'directory'));
    return {
      overlay: { root, lowers: view.lowers, upper: view.upper, work },
      mounts: targets,
      tmpfs: memory,
    };
  }

  /** Adds or replaces a file. `pid` is process 1 of the box while it runs. */
  async write(file: RootFile, pid: number | undefined): Promise<void> {
    const view = this.#view;
    if (view === undefined)
      throw new InvalidRequestError(`box ${this.#box} is on the machine's own files; give it a rootfs.`);
    if (pid === undefined) return view.write(file);
    // A mounted layer may only be changed through its mount; the path is free of links, so it cannot lead out.
    const path = await view.resolve(file.path);
    return writeRootFiles(`/proc/${pid}/root`, [{ ...file, path }]);
  }

  async account(user: string | undefined): Promise<Account> {
    const read = async (path: string) =>
      this.#view === undefined ? readFile(path, 'utf8') : ((await this.#view.readText(path)) ?? '');
    return findAccount(user, await read('/etc/passwd'), await read('/etc/group'));
  }
}
