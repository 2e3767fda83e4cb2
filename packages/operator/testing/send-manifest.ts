import type { Client } from '@slurm-operator/kube';

export interface ServersAnswer {
  readonly status: number;
  readonly message: string;
  readonly warnings: readonly string[];
}

/** What the API server answers to a write, with its warnings: a refusal is an answer, not an error. */
export async function sendManifest(
  client: Client,
  method: 'POST' | 'PATCH',
  path: string,
  manifest: object,
): Promise<ServersAnswer> {
  const type = method === 'POST' ? 'application/json' : 'application/merge-patch+json';
  const { status, headers, body } = await client.transport.request({
    method,
    path,
    body: JSON.stringify(manifest),
    headers: { Accept: 'application/json', 'Content-Type': type },
    doing: `${method} ${path}`,
  });
  const said = headers['warning'];
  const all = Array.isArray(said) ? said.join(', ') : (said ?? '');
  const warnings = [...all.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replaceAll('\\"', '"'),
  );
  const { message = '' } = JSON.parse(body.toString('utf8')) as { message?: string };
  return { status, message, warnings };
}
