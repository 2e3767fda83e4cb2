/** One POST to a webhook, with a deadline; what goes wrong is told in the words of the API. */
import { request } from 'node:https';
import type { Endpoint } from './endpoint.ts';

const MAXIMUM_ANSWER_BYTES = 10 * 1024 * 1024;

export type CallOutcome = { readonly status: number; readonly text: string } | { readonly fault: string };

export async function callWebhook(
  endpoint: Endpoint,
  body: string,
  options: {
    readonly timeoutSeconds: number;
    readonly caPem: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<CallOutcome> {
  const url = new URL(endpoint.url);
  url.searchParams.set('timeout', `${options.timeoutSeconds}s`);
  const deadline = AbortSignal.timeout(options.timeoutSeconds * 1000);
  try {
    return await post(url, endpoint, body, options.caPem, AbortSignal.any([deadline, options.signal]));
  } catch (error) {
    const why = deadline.aborted ? 'context deadline exceeded' : reasonOf(error, url, endpoint);
    return { fault: `Post "${url.href}": ${why}` };
  }
}

function post(
  url: URL,
  endpoint: Endpoint,
  body: string,
  caPem: string | undefined,
  signal: AbortSignal,
): Promise<CallOutcome> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: endpoint.address ?? url.hostname,
        port: endpoint.port ?? (url.port === '' ? 443 : Number(url.port)),
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'content-length': Buffer.byteLength(body),
          host: url.host,
          'user-agent': 'kube-apiserver-admission',
        },
        // An address has no server name; a wrong one would break the handshake.
        servername: /^[\d.]+$|:/.test(endpoint.serverName) ? '' : endpoint.serverName,
        agent: false,
        signal,
        ...(caPem === undefined ? {} : { ca: caPem }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAXIMUM_ANSWER_BYTES) sent.destroy(new Error('the answer of the webhook is too large'));
          else chunks.push(chunk);
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function reasonOf(error: unknown, url: URL, endpoint: Endpoint): string {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const where = `${endpoint.address ?? url.hostname}:${endpoint.port ?? url.port}`;
  if (code === 'ECONNREFUSED') return `dial tcp ${where}: connect: connection refused`;
  if (code === 'ECONNRESET') return 'EOF';
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${url.hostname}: no such host`;
  if (
    code.includes('SELF_SIGNED') ||
    code.includes('UNABLE_TO_VERIFY') ||
    code.includes('UNABLE_TO_GET_ISSUER')
  )
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  if (code === 'CERT_HAS_EXPIRED')
    return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
  return message;
}
