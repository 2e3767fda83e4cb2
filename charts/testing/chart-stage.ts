/** helm, and an API server that knows our kinds: what the charts render can be read, and shown to it. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  kubeconfigConfig,
  namespaces,
} from '@slurm-operator/kube';
import { chart, Helm, type Manifest } from '../src/index.ts';

// Tests read any field of any kind.
// oxlint-disable-next-line typescript/no-explicit-any
export type Any = any;

export class ChartStage implements AsyncDisposable {
  readonly helm: Helm;
  readonly client: Client;
  readonly directory: string;
  readonly #server: ApiServer;
  readonly #discovered = new Map<string, { plural: string; namespaced: boolean }>();

  private constructor(parts: { helm: Helm; client: Client; directory: string; server: ApiServer }) {
    this.helm = parts.helm;
    this.client = parts.client;
    this.directory = parts.directory;
    this.#server = parts.server;
  }

  static async open(): Promise<ChartStage> {
    const directory = await mkdtemp(join(tmpdir(), 'charts-'));
    const kubeconfig = join(directory, 'kubeconfig');
    const helm = await Helm.open({ progress: console.log, kubeconfig });
    const server = await startApiServer();
    await writeFile(kubeconfig, server.kubeconfig());
    const config = await kubeconfigConfig({ text: server.kubeconfig() });
    const client = createClient(config, { userAgent: 'test', rateLimit: false });
    for (const kind of kinds)
      await client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
    for (const name of ['slurm', 'slinky', 'team-a', 'team-b'])
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    return new ChartStage({ helm, client, directory, server });
  }

  /** Requests as this user, with what the API server lets it do. */
  async clientOf(user: string): Promise<Client> {
    const text = await this.#server.kubeconfigFor({ name: user, groups: ['system:authenticated'] });
    return createClient(await kubeconfigConfig({ text }), { userAgent: 'test', rateLimit: false });
  }

  slurm(values: object): Promise<Manifest[]> {
    return this.helm.template('slurm', chart('slurm'), values, ['--namespace', 'slurm']);
  }

  operator(values: object): Promise<Manifest[]> {
    return this.helm.template('slurm-operator', chart('slurm-operator'), values, ['--namespace', 'slinky']);
  }

  /** What an installation of the chart slurm would send, with a look at what is in the cluster. */
  async slurmInCluster(values: object): Promise<string> {
    const file = await this.helm.file(values);
    const { stdout } = await this.helm.run([
      'install',
      'looking',
      chart('slurm'),
      '--namespace=slurm',
      `--values=${file}`,
      '--dry-run=server',
      '--take-ownership',
    ]);
    return stdout;
  }

  /** Shows each object to the API server, which must find nothing wrong with it. */
  async accepts(manifests: readonly Manifest[], namespace: string): Promise<void> {
    assert.ok(manifests.length > 0);
    for (const manifest of manifests) {
      const { kind, metadata } = manifest;
      const { plural, namespaced } = await this.#resource(manifest);
      const place = namespaced ? `/namespaces/${metadata.namespace ?? namespace}` : '';
      // Strict: a field that the API server does not know is an error.
      const path = `${base(manifest)}${place}/${plural}?dryRun=All&fieldValidation=Strict`;
      await this.client.json('POST', path, { body: manifest, timeout: 60_000 }).catch((error: unknown) => {
        throw new Error(`${kind} ${metadata.name} is refused`, { cause: error });
      });
    }
  }

  async #resource(manifest: Manifest): Promise<{ plural: string; namespaced: boolean }> {
    const { apiVersion, kind } = manifest;
    const known = this.#discovered.get(`${apiVersion}/${kind}`);
    if (known !== undefined) return known;
    const { resources } = await this.client.json<{
      resources: { name: string; kind: string; namespaced: boolean }[];
    }>('GET', base(manifest), { timeout: 60_000 });
    const found = resources.find((each) => each.kind === kind && !each.name.includes('/'));
    assert.ok(found, `the API server knows ${apiVersion} ${kind}`);
    const resource = { plural: found.name, namespaced: found.namespaced };
    this.#discovered.set(`${apiVersion}/${kind}`, resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.helm[Symbol.asyncDispose]();
    this.client.close();
    await this.#server.stop();
    await rm(this.directory, { recursive: true });
  }
}

const base = ({ apiVersion }: Manifest): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

/** The one object of this kind, and of this name if one is given. */
export function one(manifests: readonly Manifest[], kind: string, name?: string): Any {
  const found = manifests.filter(
    (each) => each.kind === kind && (name === undefined || each.metadata.name === name),
  );
  const all = manifests.map((each) => `${each.kind} ${each.metadata.name}`).join(', ');
  assert.equal(found.length, 1, `one ${kind} ${name ?? ''} among ${all}`);
  return found[0];
}

export function none(manifests: readonly Manifest[], kind: string): void {
  assert.deepEqual(
    manifests.filter((each) => each.kind === kind),
    [],
  );
}
