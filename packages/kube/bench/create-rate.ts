/** How much of the rate of raw HTTP the client keeps, on the embedded API server, with the same concurrency. */
import { Agent, request } from 'node:https';
import { startApiServer } from '@slurm-operator/apiserver';
import { type ConfigMap, configMaps, createClient, kubeconfigConfig } from '../src/index.ts';

const CONCURRENCY = 16;
/** Both ways take turns in small slices, so that whatever else the machine does weighs on both alike. */
const SLICES = 20;
/** The run whose ratio is the middle one counts. */
const RUNS = 5;

/** The server of this benchmark, in a process of its own. */
export async function runApiServer(): Promise<void> {
  const server = await startApiServer();
  const { certificatePem: cert, keyPem: key } = server.admin;
  process.send?.({ url: server.url, ca: server.caPem, cert, key, kubeconfig: server.kubeconfig() });
}

export interface ServerAccess {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly kubeconfig: string;
}

/** Both rates in creates per second. */
export async function measureCreates(
  access: ServerAccess,
  creates: number,
): Promise<{ raw: number; client: number }> {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: CONCURRENCY,
    ca: access.ca,
    cert: access.cert,
    key: access.key,
  });
  const client = createClient(await kubeconfigConfig({ text: access.kubeconfig }), {
    rateLimit: false,
    maxSockets: CONCURRENCY,
    userAgent: 'bench',
  });
  const raw = (object: ConfigMap) =>
    new Promise<void>((resolve, reject) => {
      const body = JSON.stringify(object);
      const sent = request(
        `${access.url}/api/v1/namespaces/default/configmaps?fieldManager=bench`,
        {
          method: 'POST',
          agent,
          headers: {
            'User-Agent': 'bench',
            Accept: 'application/json',
            'Content-Type': 'application/json',
            'Content-Length': Buffer.byteLength(body),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            JSON.parse(Buffer.concat(chunks).toString('utf8'));
            if (response.statusCode === 201) resolve();
            else reject(new Error(`raw create was answered ${response.statusCode}`));
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  const slice = async (
    name: string,
    size: number,
    create: (object: ConfigMap) => Promise<unknown>,
  ): Promise<number> => {
    let next = 0;
    const began = performance.now();
    const work = async () => {
      for (let i = (next += 1); i <= size; i = next += 1)
        await create({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `${name}-${i}`, namespace: 'default', labels: { bench: 'create' } },
          data: { index: String(i) },
        });
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return (performance.now() - began) / 1000;
  };
  const viaClient = (object: ConfigMap) => client.create(configMaps, object);
  const size = creates / SLICES;
  // The first slices warm up both sides and do not count.
  await slice('warm-raw', 4 * size, raw);
  await slice('warm-client', 4 * size, viaClient);
  const runs: { raw: number; client: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const seconds = { raw: 0, client: 0 };
    for (let i = 0; i < SLICES; i += 1) {
      // Who goes first changes, since the second finds a larger server.
      if (i % 2 === 0) seconds.raw += await slice(`raw-${run}-${i}`, size, raw);
      seconds.client += await slice(`client-${run}-${i}`, size, viaClient);
      if (i % 2 === 1) seconds.raw += await slice(`raw-${run}-${i}`, size, raw);
    }
    runs.push({ raw: creates / seconds.raw, client: creates / seconds.client });
  }
  agent.destroy();
  client.close();
  return (
    runs.toSorted((a, b) => a.client / a.raw - b.client / b.raw)[Math.floor(RUNS / 2)] ?? {
      raw: 0,
      client: 0,
    }
  );
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
