/** A cluster for a test file: three nodes, a small image, kubectl of Debian, and ways to wait. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Client, createClient } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { stringify } from 'yaml';
import {
  type LocalCluster,
  type LocalClusterOptions,
  startLocalCluster,
} from '../src/cluster/start-local-cluster.ts';
import { findKubectl } from '../src/machine/toolbox.ts';
import { type Pod, pods } from '../src/objects/objects.ts';
import { buildBusyboxImage } from './busybox-image.ts';

const execute = promisify(execFile);

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class TestCluster {
  readonly cluster: LocalCluster;
  readonly client: Client;
  readonly #directory: string;
  readonly #kubectl: string;
  readonly #kubeconfig: string;

  private constructor(cluster: LocalCluster, client: Client, directory: string, kubectl: string) {
    this.cluster = cluster;
    this.client = client;
    this.#directory = directory;
    this.#kubectl = kubectl;
    this.#kubeconfig = join(directory, 'kubeconfig');
  }

  static async start(
    options: Partial<LocalClusterOptions> & { readonly name: string },
  ): Promise<TestCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'localcluster-test-'));
    const image = await buildBusyboxImage(directory);
    const cluster = await startLocalCluster({
      ...options,
      directory: join(directory, 'state'),
      images: [image, ...(options.images ?? [])],
    });
    const test = new TestCluster(
      cluster,
      createClient(cluster.config, { userAgent: 'test' }),
      directory,
      await findKubectl(),
    );
    await writeFile(test.#kubeconfig, cluster.kubeconfig());
    return test;
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.cluster.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async kubectl(args: readonly string[], input?: string): Promise<Ran> {
    const running = execute(this.#kubectl, [...args], {
      env: { ...process.env, KUBECONFIG: this.#kubeconfig },
      timeout: 300_000,
      maxBuffer: 16 * 1024 * 1024,
    });
    running.child.stdin?.end(input ?? '');
    return running.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code?: number; stdout: string; stderr: string }) => ({
        code: typeof error.code === 'number' ? error.code : 1,
        stdout: error.stdout,
        stderr: error.stderr,
      }),
    );
  }

  spawnKubectl(args: readonly string[]): ChildProcess {
    return spawn(this.#kubectl, [...args], { env: { ...process.env, KUBECONFIG: this.#kubeconfig } });
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const ran = await this.kubectl(
      ['apply', '-f', '-'],
      objects.map((object) => stringify(object, { version: '1.1' })).join('\n---\n'),
    );
    if (ran.code !== 0) throw new Error(`kubectl apply: ${ran.stderr}`);
  }

  async pod(name: string, namespace = 'default'): Promise<Pod | undefined> {
    return this.client.find(pods, { namespace, name });
  }

  /** Polls until it is true; the error of a timeout has the current state. */
  until<T>(what: string, ask: () => Promise<T | undefined | false>, seconds = 180): Promise<T> {
    return until(what, ask, { seconds, everyMs: 100, seen: () => this.#picture() });
  }

  untilReady(name: string, namespace = 'default', seconds = 180): Promise<Pod> {
    return this.until(
      `pod ${name} Ready`,
      async () => {
        const pod = await this.pod(name, namespace);
        return pod?.status?.conditions?.find((entry) => entry.type === 'Ready')?.status === 'True' && pod;
      },
      seconds,
    );
  }

  /** What a person would look at first. */
  async #picture(): Promise<string> {
    const [all, events] = await Promise.all([
      this.kubectl(['get', 'pods', '-A', '-o', 'wide']),
      this.kubectl(['get', 'events', '-A']),
    ]);
    return `${all.stdout}\n${events.stdout.split('\n').slice(-30).join('\n')}`;
  }
}
