/** helm as a program: what it is asked, and what it says. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandResult, runCommand, scratchDirectory } from '@slurm-operator/sandbox';
import { parseAllDocuments } from 'yaml';
import { type FindHelmOptions, findHelm } from './find-helm.ts';

/** An object as a chart renders it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export class Helm implements AsyncDisposable {
  readonly #program: string;
  readonly #home: string;
  readonly #kubeconfig: string | undefined;
  #files = 0;

  private constructor(program: string, home: string, kubeconfig: string | undefined) {
    this.#program = program;
    this.#home = home;
    this.#kubeconfig = kubeconfig;
  }

  /** With a kubeconfig it installs; without one it only renders. */
  static async open(options: FindHelmOptions & { readonly kubeconfig?: string } = {}): Promise<Helm> {
    return new Helm(await findHelm(options), scratchDirectory('helm'), options.kubeconfig);
  }

  /** Runs helm with settings and caches of its own, so that a person's are neither read nor written. */
  run(args: readonly string[], options: { readonly allowFailure?: boolean } = {}): Promise<CommandResult> {
    const { PATH, HOME } = process.env;
    return runCommand([this.#program, ...args], {
      env: {
        PATH,
        HOME,
        HELM_CACHE_HOME: join(this.#home, 'cache'),
        HELM_CONFIG_HOME: join(this.#home, 'config'),
        HELM_DATA_HOME: join(this.#home, 'data'),
        KUBECACHEDIR: join(this.#home, 'kube'),
        KUBECONFIG: this.#kubeconfig ?? join(this.#home, 'none'),
      },
      timeoutMs: 300_000,
      ...options,
    });
  }

  /** What a chart makes of these values. */
  async template(
    release: string,
    chart: string,
    values: object = {},
    more: readonly string[] = [],
  ): Promise<Manifest[]> {
    const file = await this.file(values);
    const { stdout } = await this.run(['template', release, chart, '--values', file, ...more]);
    return parse(stdout);
  }

  /** What would be said after an installation. Helm asks a cluster for that. */
  async notes(release: string, chart: string, values: object, more: readonly string[] = []): Promise<string> {
    const file = await this.file(values);
    const { stdout } = await this.run([
      'install',
      release,
      chart,
      '--dry-run=client',
      '--values',
      file,
      ...more,
    ]);
    return stdout.split(/^NOTES:$/m)[1]?.trim() ?? '';
  }

  /** What helm says when it refuses these values. */
  async refusal(release: string, chart: string, values: object): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(
      ['template', release, chart, '--values', await this.file(values)],
      { allowFailure: true },
    );
    if (exitCode === 0) throw new Error(`helm accepted these values of ${chart}: ${stdout.slice(0, 400)}`);
    return stderr;
  }

  /** A file with these values: JSON, because helm still takes a bare yes or off for a boolean. */
  async file(values: object): Promise<string> {
    const path = join(this.#home, `values-${(this.#files += 1)}.yaml`);
    await writeFile(path, JSON.stringify(values));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#home, { recursive: true, force: true });
  }
}

function parse(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });
}
