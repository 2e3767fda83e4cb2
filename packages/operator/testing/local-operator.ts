/** The operator on a local cluster, with real Slurm in its pods. For tests that need root. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { customResourceDefinition, kinds } from '@slurm-operator/api';
import { buildImage } from '@slurm-operator/images';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  kubeconfigConfig,
  namespaces,
} from '@slurm-operator/kube';
import { type LocalCluster, startLocalCluster } from '@slurm-operator/localcluster';

export type SlurmVersion = '26.05' | '24.11';

export interface LocalOperator {
  readonly cluster: LocalCluster;
  readonly client: Client;
  readonly namespace: string;
  /** What the operator has logged so far. */
  log(): string;
  /** Kills the operator as a crash would, and starts it again. */
  crash(): Promise<void>;
  /** Resolves with what `look` finds, once it finds something; rejects after `seconds`, with its last words. */
  eventually<T>(what: string, look: () => Promise<T | undefined | false>, seconds?: number): Promise<T>;
  stop(): Promise<void>;
}

export interface LocalOperatorOptions {
  readonly name: string;
  readonly version: SlurmVersion;
  readonly nodes?: number;
  /** Further images, as archives. */
  readonly images?: readonly string[];
  readonly progress?: (line: string) => void;
}

const manager = join(import.meta.dirname, '../src/manager.ts');

export async function startLocalOperator(options: LocalOperatorOptions): Promise<LocalOperator> {
  const { version } = options;
  const directory = await mkdtemp(join(tmpdir(), `${options.name}-`));
  const images = [...(options.images ?? [])];
  for (const name of ['slurmctld', 'slurmd', 'slurmrestd', 'slurmdbd', 'login'] as const)
    images.push((await buildImage(name, version)).path);
  const cluster = await startLocalCluster({
    name: options.name,
    directory: join(directory, 'cluster'),
    nodes: options.nodes ?? 3,
    images,
    ...(options.progress === undefined ? {} : { progress: options.progress }),
  });
  let output = '';
  let operator: ChildProcess | undefined;
  const kubeconfig = join(directory, 'kubeconfig');
  const start = () => {
    // In the network of a node, where Services are reached and the API server has an address.
    const [program = '', ...enter] = cluster.nodes[0]?.machine?.enter() ?? [];
    const flags = [
      ...['--kubeconfig', kubeconfig, '--reach-services-by', 'address', '--image-tag', version],
      ...['--metrics-addr', '0', '--health-addr', '0'],
    ];
    operator = spawn(program, [...enter, process.execPath, manager, ...flags], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-2_000_000);
    };
    operator.stdout?.on('data', keep);
    operator.stderr?.on('data', keep);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (operator === undefined || operator.exitCode !== null || operator.signalCode !== null) return;
    const ended = once(operator, 'exit');
    operator.kill(signal);
    await ended;
  };
  const client = createClient(await kubeconfigConfig({ text: cluster.kubeconfig() }), { userAgent: 'test' });
  const namespace = 'slurm';
  try {
    const inside = `server: https://10.${cluster.block}.255.1:6443`;
    await writeFile(kubeconfig, cluster.kubeconfig().replace(/server: .*/, inside), { mode: 0o600 });
    for (const definition of kinds)
      await client.create(customResourceDefinitions, customResourceDefinition(definition) as never);
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    start();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return {
    cluster,
    client,
    namespace,
    log: () => output,
    async crash() {
      await end('SIGKILL');
      start();
    },
    async eventually(what, look, seconds = 60) {
      const deadline = Date.now() + seconds * 1000;
      let last: unknown;
      for (;;) {
        try {
          const found = await look();
          if (found !== undefined && found !== false) return found;
        } catch (error) {
          last = error;
        }
        if (Date.now() > deadline)
          throw new Error(`waited ${seconds} s in vain for ${what}`, { cause: last });
        await wait(200);
      }
    },
    async stop() {
      await end('SIGTERM');
      client.close();
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
