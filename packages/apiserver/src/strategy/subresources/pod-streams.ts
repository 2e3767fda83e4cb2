/**
 * pods/exec, attach and portforward: the connection is forwarded to the node, with any protocol.
 * Clients upgrade to WebSocket (or SPDY); the server only finds the node, checks the right and joins the two ends.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { ApiError, badRequest } from '../../api/errors.ts';
import type { RequestInfo } from '../../api/request-info.ts';
import type { ServerParts } from '../../resource/request-context.ts';
import type { ActionSubresource } from '../../resource/resource-definition.ts';
import { type NodeEndpoint, type NodeRoute, nodeEndpoint } from './node-endpoint.ts';

const CONNECT_DEADLINE_MS = 10_000;
/** Headers that are about this hop, or a secret between the client and us. */
const KEPT_HERE = new Set(['host', 'authorization', 'cookie']);

/** Without an upgrade there is nothing to stream over. */
function streamOf(kind: string): ActionSubresource {
  return {
    type: 'action',
    verbs: ['create', 'get'],
    kind: { group: '', version: 'v1', kind },
    handle: () => Promise.reject(badRequest('Upgrade request required')),
  };
}

export const podExec = streamOf('PodExecOptions');
export const podAttach = streamOf('PodAttachOptions');
export const podPortForward = streamOf('PodPortForwardOptions');

const STREAMED: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward']);

/** The node's end of an upgrade request; throws an ApiError for anything that cannot be upgraded. */
export function streamEndpoint(parts: ServerParts, info: RequestInfo, query: URLSearchParams): NodeEndpoint {
  const { group, plural, subresource, namespace, name } = info;
  if (!info.isResource || group !== '' || plural !== 'pods' || !STREAMED.has(subresource))
    throw badRequest('this path cannot be upgraded: only exec, attach and portforward of pods can');
  const endpoint = nodeEndpoint(parts, subresource as NodeRoute, namespace, name, query);
  if (endpoint === undefined) throw badRequest(`pod ${name} does not have a host assigned`);
  return endpoint;
}

/** Sends the client's upgrade request to the node and joins the two connections; resolves when they are over. */
export async function tunnel(
  parts: ServerParts,
  endpoint: NodeEndpoint,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  const node = await dial(parts, endpoint);
  const lines = [
    `${request.method ?? 'GET'} ${endpoint.path} HTTP/1.1`,
    `Host: ${endpoint.host}:${endpoint.port}`,
  ];
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    const key = request.rawHeaders[index] ?? '';
    const lower = key.toLowerCase();
    if (!KEPT_HERE.has(lower) && !lower.startsWith('impersonate-'))
      lines.push(`${key}: ${request.rawHeaders[index + 1] ?? ''}`);
  }
  node.write(`${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) node.write(head);
  await new Promise<void>((resolve) => {
    const end = () => {
      client.destroy();
      node.destroy();
      resolve();
    };
    for (const side of [client, node]) side.once('close', end).once('error', end);
    client.pipe(node).pipe(client);
  });
}

function dial(parts: ServerParts, { host, port }: NodeEndpoint): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ca: parts.authority.certificatePem });
    const fail = (why: string) => {
      socket.destroy();
      reject(
        new ApiError(
          500,
          'InternalError',
          `Internal error occurred: error dialing node ${host}:${port}: ${why}`,
        ),
      );
    };
    socket.setTimeout(CONNECT_DEADLINE_MS, () => fail('no answer in time'));
    socket.once('error', (error) => fail(error.message));
    socket.once('secureConnect', () => {
      socket.setTimeout(0);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}
