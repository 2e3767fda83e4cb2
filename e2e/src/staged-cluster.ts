/** What every stage stands on: a cluster of this machine (needs root) or a given one, a client of it, and a directory that goes with it. */
import { globSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Client, createClient, loadConfig, nodes } from '@slurm-operator/kube';
import {
  type ClusterRecord,
  findKubectl,
  type LocalCluster,
  type LocalClusterOptions,
  order,
  startLocalCluster,
} from '@slurm-operator/localcluster';
import { runCommand, scratchDirectory } from '@slurm-operator/sandbox';
import { clusterContents } from './given/cluster-contents.ts';
import { givenKubeconfig, isGiven, localClusterOf } from './given/given-cluster.ts';
import { checkGround, restoreGround } from './given/ground.ts';
import { assertNothingRefused } from './operator-rights.ts';

type StagedOptions = Omit<LocalClusterOptions, 'directory'>;

export class StagedCluster implements AsyncDisposable {
  /** An administrator's. */
  readonly client: Client;
  /** For whatever belongs to the stage; the cluster's own files are in `cluster`. `KEEP_STAGE=1` keeps it, with all logs. */
  readonly directory: string;
  readonly #local: LocalCluster | undefined;
  /** Where images of a given localcluster are loaded. */
  readonly #record: ClusterRecord | undefined;
  readonly #undo = new AsyncDisposableStack();

  private constructor(
    client: Client,
    directory: string,
    cluster: { readonly local?: LocalCluster; readonly record?: ClusterRecord | undefined },
  ) {
    this.client = client;
    this.directory = directory;
    this.#local = cluster.local;
    this.#record = cluster.record;
    this.#undo.defer(() => client.close());
  }

  static async start(options: StagedOptions): Promise<StagedCluster> {
    const directory = scratchDirectory('stage');
    try {
      return await (isGiven ? attach(options, directory) : startOwn(options, directory));
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }

    async function startOwn(own: StagedOptions, place: string): Promise<StagedCluster> {
      const cluster = await startLocalCluster({ ...own, directory: join(place, 'cluster') });
      const client = createClient(cluster.config, { userAgent: 'stage', rateLimit: false });
      const staged = new StagedCluster(client, place, { local: cluster });
      await writeFile(staged.kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
      return staged;
    }

    async function attach({ images = [] }: StagedOptions, place: string): Promise<StagedCluster> {
      const env = { ...process.env, KUBECONFIG: givenKubeconfig };
      const client = createClient(await loadConfig({ env }), { userAgent: 'stage', rateLimit: false });
      const staged = new StagedCluster(client, place, { record: await localClusterOf(givenKubeconfig) });
      try {
        // A copy: tests change the namespace in it, and the file belongs to the user.
        const view = [await findKubectl(), 'config', 'view', '--raw', '--flatten', '--minify'];
        await writeFile(staged.kubeconfig, (await runCommand(view, { env })).stdout, { mode: 0o600 });
        await checkGround(client);
        const before = await clusterContents(client);
        staged.#undo.defer(() => restoreGround(client, before));
        for (const path of images) await staged.loadImage(path);
        return staged;
      } catch (error) {
        client.close();
        throw error;
      }
    }
  }

  /** The localcluster of this stage. On a given cluster there is none: tests that need it say so and are not run. */
  get cluster(): LocalCluster {
    if (this.#local === undefined) throw new Error('this needs a localcluster of its own');
    return this.#local;
  }

  /** The path of an administrator's kubeconfig. */
  get kubeconfig(): string {
    return join(this.directory, 'kubeconfig');
  }

  /** Images of a given cluster that is no localcluster are there already, or in its registry. */
  async loadImage(path: string): Promise<void> {
    if (this.#local !== undefined) await this.#local.loadImage(path);
    else if (this.#record !== undefined) await order(this.#record, '/load-image', { path });
  }

  /** The nodes that take pods. */
  async nodeNames(): Promise<string[]> {
    const { items } = await this.client.list(nodes);
    return items
      .filter(({ spec }) => spec?.unschedulable !== true && (spec?.taints ?? []).length === 0)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  }

  /** The audit log of a given cluster is not accessible. */
  assertNothingRefused(): void {
    if (this.#local !== undefined) assertNothingRefused(this.#local.server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const keep = process.env['KEEP_STAGE'] !== undefined;
    try {
      // The cluster takes the logs of its containers with it.
      if (keep && this.#local !== undefined) await keepLogs(this.directory);
      await this.#undo.disposeAsync();
      await this.#local?.stop();
    } finally {
      if (!keep) await rm(this.directory, { recursive: true, force: true });
    }
  }
}

async function keepLogs(directory: string): Promise<void> {
  for (const logs of globSync('cluster/nodes/*/logs', { cwd: directory })) {
    const node = basename(dirname(logs));
    await cp(join(directory, logs), join(directory, 'logs', node), { recursive: true });
  }
}
