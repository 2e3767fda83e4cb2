/** Puts real Slurm onto a cluster as hand-written pods, runs a job on all of its nodes, and tells what happened. */
import { AlreadyExistsError, type Client, pathOf, sleep } from '@slurm-operator/kube';
import { configMaps, namespaces, pods, secrets, services } from '../src/objects/objects.ts';
import { type SlurmPodsOptions, slurmPods } from './slurm-pods.ts';

export interface SlurmRun {
  readonly completed: boolean;
  /** What the client said, line by line. */
  readonly lines: readonly string[];
}

const resources = {
  Namespace: namespaces,
  Secret: secrets,
  ConfigMap: configMaps,
  Service: services,
  Pod: pods,
};

export async function runSlurmPods(
  client: Client,
  options: SlurmPodsOptions & { readonly signal: AbortSignal; readonly onLine?: (line: string) => void },
): Promise<SlurmRun> {
  const { namespace, signal, onLine } = options;
  for (const manifest of slurmPods(options)) {
    const resource = resources[manifest.kind as keyof typeof resources];
    await client
      .json('POST', pathOf(resource, { namespace: manifest.metadata.namespace }), { body: manifest, signal })
      .catch((error: unknown) => {
        if (!(error instanceof AlreadyExistsError)) throw error;
      });
  }
  const lines: string[] = [];
  for (;;) {
    signal.throwIfAborted();
    const pod = await client.get(pods, { namespace, name: 'client' }, { signal });
    const phase = pod.status?.phase;
    if (phase !== 'Pending') {
      const text = await readLog(client, namespace, signal);
      for (const line of text.split('\n').slice(lines.length, -1)) {
        lines.push(line);
        onLine?.(line);
      }
    }
    if (phase === 'Succeeded' || phase === 'Failed') return { completed: phase === 'Succeeded', lines };
    await sleep(100, signal);
  }
}

async function readLog(client: Client, namespace: string, signal: AbortSignal): Promise<string> {
  const path = pathOf(pods, { namespace, name: 'client', subresource: 'log' });
  const message = await client.open(path, {
    doing: 'read the log of the client',
    accept: '*/*',
    signal,
    timeout: 60_000,
  });
  let text = '';
  for await (const chunk of message) text += String(chunk);
  return text;
}
