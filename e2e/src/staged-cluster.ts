/** What every stage stands on: a cluster of this machine, a client of it, and a directory that goes with it. Needs root. */
import { globSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Client, createClient } from '@slurm-operator/kube';
import { type LocalCluster, type LocalClusterOptions, startLocalCluster } from '@slurm-operator/localcluster';
import { scratchDirectory } from '@slurm-operator/sandbox';

export class StagedCluster implements AsyncDisposable {
  readonly cluster: LocalCluster;
  /** An administrator's. */
  readonly client: Client;
  /** For whatever belongs to the stage; the cluster's own files are in `cluster`. `KEEP_STAGE=1` keeps it, with all logs. */
  readonly directory: string;

  private constructor(cluster: LocalCluster, directory: string) {
    this.cluster = cluster;
    this.directory = directory;
    this.client = createClient(cluster.config, { userAgent: 'stage', rateLimit: false });
  }

  static async start(options: Omit<LocalClusterOptions, 'directory'>): Promise<StagedCluster> {
    const directory = scratchDirectory('stage');
    try {
      const cluster = await startLocalCluster({ ...options, directory: join(directory, 'cluster') });
      const staged = new StagedCluster(cluster, directory);
      await writeFile(staged.kubeconfig, cluster.kubeconfig(), { mode: 0o600 });
      return staged;
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** The path of an administrator's kubeconfig. */
  get kubeconfig(): string {
    return join(this.directory, 'kubeconfig');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    const keep = process.env['KEEP_STAGE'] !== undefined;
    // The cluster takes the logs of its containers with it.
    if (keep) await keepLogs(this.directory);
    await this.cluster.stop();
    if (!keep) await rm(this.directory, { recursive: true, force: true });
  }
}

async function keepLogs(directory: string): Promise<void> {
  for (const logs of globSync('cluster/nodes/*/logs', { cwd: directory })) {
    const node = basename(dirname(logs));
    await cp(join(directory, logs), join(directory, 'logs', node), { recursive: true });
  }
}
