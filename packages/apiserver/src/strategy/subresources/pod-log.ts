/** pods/log: the text a node keeps, passed on as it comes. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { ApiError, badRequest } from '../../api/errors.ts';
import type { Answer, StreamSink } from '../../resource/answer.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import type { ActionSubresource } from '../../resource/resource-definition.ts';
import { type NodeEndpoint, nodeEndpoint } from './node-endpoint.ts';

const CONNECT_DEADLINE_MS = 10_000;
const MAXIMUM_FAULT_BYTES = 64 * 1024;

export const podLog: ActionSubresource = {
  type: 'action',
  verbs: ['get'],
  kind: { group: '', version: 'v1', kind: 'Pod' },
  async handle(context) {
    const { info, parts, query } = context;
    const endpoint = nodeEndpoint(parts, 'log', info.namespace, info.name, query);
    // Nothing has run, so nothing has been said.
    if (endpoint === undefined) return empty();
    const response = await open(endpoint, context);
    if (response.statusCode !== 200) throw await faultOf(response);
    return { type: 'stream', contentType: 'text/plain', run: (sink) => pass(response, sink) };
  },
};

function empty(): Answer {
  return { type: 'text', status: 200, contentType: 'text/plain', text: '' };
}

function open({ host, port, path }: NodeEndpoint, context: RequestContext): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host, port, path, ca: context.parts.authority.certificatePem, agent: false, signal: context.signal },
      resolve,
    );
    sent.setTimeout(CONNECT_DEADLINE_MS, () => sent.destroy(new Error('the node did not answer in time')));
    // A log may be quiet for hours once it has begun.
    sent.on('response', () => sent.setTimeout(0));
    sent.on('error', (error) =>
      reject(
        new ApiError(
          500,
          'InternalError',
          `Internal error occurred: Get "https://${host}:${port}${path}": ${error.message}`,
        ),
      ),
    );
    sent.end();
  });
}

async function faultOf(response: IncomingMessage): Promise<ApiError> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length > MAXIMUM_FAULT_BYTES) break;
  }
  const status = response.statusCode ?? 500;
  if (status === 400) return badRequest(text.trim());
  return new ApiError(status, status === 404 ? 'NotFound' : 'InternalError', text.trim());
}

async function pass(response: IncomingMessage, sink: StreamSink): Promise<void> {
  const end = () => response.destroy();
  sink.signal.addEventListener('abort', end, { once: true });
  try {
    response.setEncoding('utf8');
    for await (const chunk of response) {
      sink.write(String(chunk));
      if (sink.signal.aborted) return;
    }
  } catch (error) {
    if (!sink.signal.aborted) throw error;
  } finally {
    sink.signal.removeEventListener('abort', end);
    response.destroy();
  }
}
