/** Logs of containers. */
import type { Readable } from 'node:stream';
import type { ObjectRef } from '../objects/object.ts';
import { pathOf } from '../objects/resource.ts';
import { pods } from '../objects/resources.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';

export interface PodLogOptions extends CallOptions {
  readonly container?: string;
  /** Stream new lines until the container ends. */
  readonly follow?: boolean;
  /** The log of the container before its last restart. */
  readonly previous?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  readonly timestamps?: boolean;
  /** Maximum number of bytes. */
  readonly limitBytes?: number;
}

/** The log as a stream. */
export function podLogStream(client: Client, pod: ObjectRef, options: PodLogOptions = {}): Promise<Readable> {
  const query = new URLSearchParams();
  const { signal, timeout, ...parameters } = options;
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value));
  const path = `${pathOf(pods, { ...pod, subresource: 'log' })}?${query.toString()}`;
  return client.open(path, { signal, timeout, accept: '*/*', doing: `read the log of ${pod.name}` });
}

/** The log so far, at most 10 MiB unless `limitBytes` is set. */
export async function podLog(
  client: Client,
  pod: ObjectRef,
  options: Omit<PodLogOptions, 'follow'> = {},
): Promise<string> {
  const stream = await podLogStream(client, pod, { limitBytes: 10 << 20, ...options });
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
