/** Publishes a release with the clients that people use for it: skopeo for images, helm for charts. */
import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Helm } from '@slurm-operator/charts';
import { type BuildOptions, runCommand, unpackTools } from '@slurm-operator/sandbox';
import { chartRepository, type Release } from './release-notes.ts';
import { ReleaseError, type ReleaseRequest } from './request.ts';

const timeoutMs = 60 * 60_000;

/** The file with credentials that `docker login`, `podman login` or `skopeo login` wrote; undefined: none, so anonymous. */
export async function credentialsFile(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const named = env['REGISTRY_AUTH_FILE'];
  if (named !== undefined && named !== '') {
    await access(named).catch((cause: unknown) => {
      throw new ReleaseError(`REGISTRY_AUTH_FILE names ${named}, which cannot be read.`, { cause });
    });
    return named;
  }
  const places = [
    ...(env['XDG_RUNTIME_DIR'] === undefined ? [] : [join(env['XDG_RUNTIME_DIR'], 'containers/auth.json')]),
    join(env['DOCKER_CONFIG'] ?? join(homedir(), '.docker'), 'config.json'),
  ];
  for (const place of places)
    if (
      await access(place).then(
        () => true,
        () => false,
      )
    )
      return place;
  return undefined;
}

export class Publisher {
  readonly #skopeo: string;
  readonly #helm: Helm;
  readonly #request: ReleaseRequest;
  readonly #credentials: string | undefined;
  readonly #options: BuildOptions;

  private constructor(
    skopeo: string,
    helm: Helm,
    request: ReleaseRequest,
    credentials: string | undefined,
    options: BuildOptions,
  ) {
    this.#skopeo = skopeo;
    this.#helm = helm;
    this.#request = request;
    this.#credentials = credentials;
    this.#options = options;
  }

  static async open(
    helm: Helm,
    request: ReleaseRequest,
    credentials: string | undefined,
    options: BuildOptions,
  ): Promise<Publisher> {
    const tools = await unpackTools({ packages: ['skopeo'], ...options });
    return new Publisher(tools.path('skopeo'), helm, request, credentials, options);
  }

  /** Nothing is pushed if the registry has this version with another content. What is there already is not pushed again. */
  async publish(release: Release, directory: string): Promise<void> {
    const { registry } = this.#request;
    const missing: (() => Promise<void>)[] = [];
    for (const image of release.images) {
      const source = `oci:${join(directory, 'images')}:${image.repository.split('/').at(-1)}-${image.tag}`;
      const target = (tag: string) => `${registry}/${image.repository}:${tag}`;
      for (const tag of new Set([image.releaseTag, image.tag])) {
        const found = await this.#digest(target(tag));
        if (found === image.digest) continue;
        if (found !== undefined && tag === image.releaseTag) throw taken(target(tag), found, release.version);
        missing.push(() => this.#copy(source, target(tag)));
      }
    }
    for (const { name, file, sha256 } of release.charts) {
      const target = `${registry}/charts/${name}:${release.version}`;
      const found = await this.#raw(target);
      if (found?.includes(`sha256:${sha256}`) === true) continue;
      if (found !== undefined) throw taken(target, digestOf(found), release.version);
      missing.push(() => this.#pushChart(join(directory, 'charts', file)));
    }
    for (const push of missing) await push();
    if (missing.length === 0) this.#options.progress?.(`${registry} has all of ${release.version} already`);
  }

  async #copy(source: string, target: string): Promise<void> {
    this.#options.progress?.(`pushing ${target}`);
    await this.#run([
      'copy',
      '--all',
      '--preserve-digests',
      ...(this.#request.loopback ? ['--dest-tls-verify=false'] : []),
      ...(this.#credentials === undefined ? [] : ['--dest-authfile', this.#credentials]),
      source,
      `docker://${target}`,
    ]);
  }

  async #pushChart(file: string): Promise<void> {
    this.#options.progress?.(`pushing ${file}`);
    await this.#helm.run([
      'push',
      file,
      chartRepository(this.#request.registry),
      ...(this.#request.loopback ? ['--plain-http'] : []),
      ...(this.#credentials === undefined ? [] : ['--registry-config', this.#credentials]),
    ]);
  }

  async #digest(target: string): Promise<string | undefined> {
    const raw = await this.#raw(target);
    return raw === undefined ? undefined : digestOf(raw);
  }

  /** The manifest of a tag; undefined where the registry answers that it has none. Any other failure ends the release. */
  async #raw(target: string): Promise<string | undefined> {
    const { exitCode, stdout, stderr } = await this.#run(
      [
        'inspect',
        '--raw',
        ...(this.#request.loopback ? ['--tls-verify=false'] : []),
        ...(this.#credentials === undefined ? [] : ['--authfile', this.#credentials]),
        `docker://${target}`,
      ],
      true,
    );
    if (exitCode === 0) return stdout;
    if (/manifest unknown|name unknown|repository name not known|not found/i.test(stderr)) return undefined;
    throw new ReleaseError(`${target} cannot be read: ${stderr.trim().split('\n').at(-1) ?? ''}`);
  }

  #run(args: readonly string[], allowFailure = false) {
    // Any image is taken, as with --insecure-policy of every CI: what is pushed was built here.
    return runCommand([this.#skopeo, '--insecure-policy', ...args], {
      timeoutMs,
      allowFailure,
      ...(this.#options.signal === undefined ? {} : { signal: this.#options.signal }),
    });
  }
}

const digestOf = (raw: string): string => `sha256:${createHash('sha256').update(raw).digest('hex')}`;

const taken = (target: string, found: string, version: string): ReleaseError =>
  new ReleaseError(
    `${target} exists with another content (${found}): a published version is never overwritten; choose another than ${version}.`,
  );
