/** Requests that want to leave HTTP behind: checked as any other, then handed over as a bare connection. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, internalError } from '../api/errors.ts';
import { requestInfo } from '../api/request-info.ts';
import { type AuditLog, askedFor } from '../audit/audit-log.ts';
import { grantAccess } from '../authorization/access.ts';
import type { ServerParts } from '../resource/request-context.ts';
import { streamEndpoint, tunnel } from '../strategy/subresources/pod-streams.ts';

const SWITCHING_PROTOCOLS = 101;

export async function serveUpgrade(
  { parts, audit }: { readonly parts: ServerParts; readonly audit: AuditLog },
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const began = parts.environment.now();
  const url = new URL(request.url ?? '/', 'https://server');
  const query = url.searchParams;
  // Running something in a pod is a creation, also when a WebSocket client must ask for it with GET.
  const info = { ...requestInfo(request.method ?? 'GET', url.pathname, query), verb: 'create' };
  let user = '';
  let status = SWITCHING_PROTOCOLS;
  socket.on('error', () => socket.destroy());
  try {
    grantAccess(request, { parts, info, path: url.pathname, query }, (becoming) => {
      user = becoming.name;
    });
    await tunnel(parts, streamEndpoint(parts, info, query), request, socket, head);
  } catch (error) {
    const fault =
      error instanceof ApiError
        ? error
        : internalError(error instanceof Error ? error.message : String(error), error);
    status = fault.code;
    refuse(socket, fault);
  } finally {
    audit.record({
      time: began,
      user,
      userAgent: request.headers['user-agent'] ?? '',
      ...askedFor(info),
      path: request.url ?? '/',
      status,
      milliseconds: parts.environment.now() - began,
    });
  }
}

function refuse(socket: Duplex, fault: ApiError): void {
  if (socket.destroyed) return;
  const body = JSON.stringify(fault.status);
  socket.end(
    [
      `HTTP/1.1 ${fault.code} ${fault.reason || 'Error'}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
