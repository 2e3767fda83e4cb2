import { mkdir, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '../directories.ts';
import { CommandError, InvalidRequestError, SandboxError } from '../errors.ts';
import { runCommand } from '../process/run-command.ts';
import { withLock } from '../process/with-lock.ts';
import { consoleProgress, type Progress } from '../progress.ts';
import { replaceFile } from '../publish-directory.ts';
import { type HostArchive, hostArchive } from './host-archive.ts';
import { type DebPackage, parsePrintUris } from './print-uris.ts';
import { watchGrowth } from './watch-growth.ts';

export type Suite = 'bookworm' | 'trixie' | 'forky' | 'sid';

/** As Debian calls machines. */
export type Architecture = 'amd64' | 'arm64';

export interface AptOptions {
  readonly suite: Suite;
  /** The machine that the packages are for. @default this one */
  readonly architecture?: Architecture;
  /** Other releases, for packages that `suite` does not have; what it has always comes from it. */
  readonly alsoFrom?: readonly Suite[];
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

/** Package lists older than this are fetched again before something new is resolved. */
const listsAgeMs = 24 * 3600 * 1000;

/**
 * An apt of our own: its sources, lists, status and archives live in the cache directory, so neither the packages
 * nor the sources of the machine are ever touched. Mirror, keyring and proxy settings are the machine's.
 */
export class PrivateApt {
  readonly suite: Suite;
  readonly archive: HostArchive;
  readonly directory: string;
  readonly #alsoFrom: readonly Suite[];
  readonly #architecture: Architecture | undefined;
  readonly #progress: Progress;
  readonly #signal: AbortSignal | undefined;

  private constructor(options: AptOptions, archive: HostArchive, directory: string) {
    this.suite = options.suite;
    this.#alsoFrom = options.alsoFrom ?? [];
    this.#architecture = options.architecture;
    this.archive = archive;
    this.directory = directory;
    this.#progress = options.progress ?? consoleProgress();
    this.#signal = options.signal;
  }

  static async open(options: AptOptions): Promise<PrivateApt> {
    const suites = [options.suite, ...(options.alsoFrom ?? [])];
    for (const suite of suites)
      if (!/^[a-z]+$/.test(suite))
        throw new InvalidRequestError(`suite "${suite}" is not a Debian release name such as "trixie".`);
    const archive = await hostArchive();
    const { architecture } = options;
    const lists = architecture === undefined ? suites : [...suites, architecture];
    const directory = join(cacheDirectory(), 'apt', lists.join('+'));
    for (const part of ['lists/partial', '../archives/partial', 'nothing/partial', 'log', 'parts'])
      await mkdir(join(directory, part), { recursive: true });
    const apt = new PrivateApt(options, archive, directory);
    await apt.#writeConfiguration();
    return apt;
  }

  /** The environment in which every apt program of ours runs. */
  get env(): NodeJS.ProcessEnv {
    return {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: process.env['HOME'] ?? '/',
      LC_ALL: 'C',
      DEBIAN_FRONTEND: 'noninteractive',
      APT_CONFIG: join(this.directory, 'apt.conf'),
    };
  }

  /** Package files of all suites: many are the same. */
  get archives(): string {
    return join(this.directory, '../archives');
  }

  /** The exact packages that installing `names` on an empty system means, dependencies included. */
  async resolve(names: readonly string[]): Promise<DebPackage[]> {
    return this.#locked('lock', async () => {
      await this.#updateLists(listsAgeMs);
      const { stdout } = await this.#run(
        ['apt-get', 'install', '--print-uris', '--yes', '--no-install-recommends', ...names],
        // An empty archive directory: apt lists only what it would still have to download.
        ['-o', `Dir::Cache::archives=${join(this.directory, 'nothing')}`],
      );
      const packages = parsePrintUris(stdout);
      if (packages.length === 0)
        throw new SandboxError(
          'APT_FAILED',
          `Debian ${this.suite} from ${this.archive.uri} names no package for ${names.join(', ')}.`,
        );
      return packages;
    });
  }

  /** Brings the packages into the archive directory (what is there already stays) and names their files. */
  async download(packages: readonly DebPackage[]): Promise<string[]> {
    return this.#locked('../archives.lock', async () => {
      const missing: DebPackage[] = [];
      for (const deb of packages) {
        const size = await stat(join(this.archives, deb.file)).then(
          (found) => found.size,
          () => undefined,
        );
        if (size === deb.size) continue;
        if (size !== undefined) await unlink(join(this.archives, deb.file)); // interrupted before
        missing.push(deb);
      }
      if (missing.length > 0) {
        const megabytes = missing.reduce((sum, deb) => sum + deb.size, 0) / 1e6;
        this.#progress(
          `${this.suite}: downloading ${missing.length} packages (${megabytes.toFixed(1)} MB) from ${this.archive.uri}`,
        );
        const wanted = missing.map((deb) => `${deb.name}:${deb.architecture}=${deb.version}`);
        const growth = watchGrowth(
          missing.map(({ file, size }) => ({ path: join(this.archives, file), size })),
          (bytes, total) =>
            this.#progress(`${this.suite}: ${(bytes / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB`),
        );
        try {
          await this.#run(['apt-get', 'download', ...wanted], [], this.archives);
        } finally {
          growth.stop();
        }
      }
      return packages.map((deb) => join(this.archives, deb.file));
    });
  }

  /** Fetches the package lists now. For callers whose download failed because the mirror moved on. */
  async refresh(): Promise<void> {
    await this.#locked('lock', () => this.#updateLists(0));
  }

  async #updateLists(maxAgeMs: number): Promise<void> {
    const stamp = join(this.directory, 'updated');
    const updated = await stat(stamp).then(
      (found) => found.mtimeMs,
      () => 0,
    );
    if (Date.now() - updated <= maxAgeMs) return;
    this.#progress(`${this.suite}: reading the package lists of ${this.archive.uri}`);
    try {
      await this.#run(['apt-get', 'update', '--error-on=any']);
    } catch (error) {
      // Old lists still serve a machine that is offline for the moment; none at all do not.
      if (updated === 0 || maxAgeMs === 0 || !(error instanceof CommandError)) throw error;
      this.#progress(`${this.suite}: the mirror does not answer; going on with the lists of before`);
    }
    await writeFile(stamp, '');
    await utimes(stamp, new Date(), new Date());
  }

  async #run(command: readonly string[], extra: readonly string[] = [], cwd?: string) {
    try {
      return await runCommand([...command, ...extra], { env: this.env, signal: this.#signal, cwd });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new SandboxError(
        'APT_FAILED',
        `Debian ${this.suite} from ${this.archive.uri} cannot be used: ${error.message}`,
        { cause: error },
      );
    }
  }

  async #locked<T>(lock: string, work: () => Promise<T>): Promise<T> {
    return withLock(join(this.directory, lock), work, {
      signal: this.#signal,
      onWait: () => this.#progress(`${this.suite}: waiting for another download to finish`),
    });
  }

  async #writeConfiguration(): Promise<void> {
    const at = (path: string) => JSON.stringify(join(this.directory, path));
    const { stdout } = await runCommand(['apt-config', 'dump']);
    // How to reach the mirror is the machine's business; hooks and all else of its configuration stay out.
    const reach = stdout.split('\n').filter((line) => /^Acquire::(https?|Retries|ForceIPv)\b/.test(line));
    const settings = [
      `Dir::Etc::parts ${at('parts')};`,
      `Dir::Etc::main ${at('parts/none')};`,
      `Dir::Etc::sourcelist ${at('sources.list')};`,
      `Dir::Etc::sourceparts ${at('parts')};`,
      `Dir::Etc::preferencesparts ${at('parts')};`,
      `Dir::Etc::preferences ${at('preferences')};`,
      `Dir::State::lists ${at('lists')};`,
      `Dir::State::status ${at('status')};`,
      `Dir::State::extended_states ${at('extended_states')};`,
      `Dir::Cache::archives ${at('../archives')};`,
      'Dir::Cache::pkgcache "";',
      `Dir::Cache::srcpkgcache ${at('srcpkgcache.bin')};`,
      `Dir::Log ${at('log')};`,
      'APT::Sandbox::User "root";',
      'APT::Get::List-Cleanup "true";',
      'Acquire::Languages "none";',
      'Acquire::PDiffs "false";',
      // Release files of testing can be past their date for a clock that is ahead; signatures are still checked.
      'Acquire::Check-Valid-Until "false";',
      // A failed download is retried before the failure is reported.
      'Acquire::Retries "5";',
      ...(this.#architecture === undefined
        ? []
        : [`APT::Architecture "${this.#architecture}";`, `APT::Architectures { "${this.#architecture}"; };`]),
      ...reach,
    ];
    const signedBy =
      this.archive.signedBy.length === 0 ? '' : ` [signed-by=${this.archive.signedBy.join(',')}]`;
    const suites = [this.suite, ...this.#alsoFrom];
    const files = {
      'apt.conf': `${settings.join('\n')}\n`,
      'sources.list': suites.map((suite) => `deb${signedBy} ${this.archive.uri} ${suite} main\n`).join(''),
      preferences: this.#alsoFrom
        .map((suite) => `Package: *\nPin: release n=${suite}\nPin-Priority: 100\n`)
        .join('\n'),
      status: '',
    };
    // Another process may be reading them at this very moment: an apt without sources knows no package.
    for (const [name, content] of Object.entries(files))
      await replaceFile(join(this.directory, name), content);
  }
}

/** What installing these packages on an empty system of that release and machine would mean; nothing is fetched but the lists. */
export async function resolvePackages(
  options: AptOptions & { readonly packages: readonly string[] },
): Promise<readonly DebPackage[]> {
  return (await PrivateApt.open(options)).resolve(options.packages);
}
