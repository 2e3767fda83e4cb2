/**
 * The way of a request: authenticate → impersonate and authorize → faults → route → decode, admit, store (verbs) → encode,
 * with an audit entry at the end whatever happened.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { durationFault } from '@slurm-operator/kubernetes-values';
import { ApiError, badRequest, internalError, notImplemented } from '../api/errors.ts';
import { requestInfo } from '../api/request-info.ts';
import type { UserInfo } from '../api/types.ts';
import { type AuditLog, askedFor } from '../audit/audit-log.ts';
import { grantAccess } from '../authorization/access.ts';
import { discover } from '../discovery/discovery.ts';
import type { Faults } from '../faults/faults.ts';
import type { Answer, StreamAnswer } from '../resource/answer.ts';
import type { RequestContext, ServerParts } from '../resource/request-context.ts';
import { unservedPath } from '../resource/unserved.ts';
import { encode } from '../response/encode.ts';
import { dispatch, pageNotFound } from '../verbs/dispatch.ts';
import { readBody } from './read-body.ts';

export interface PipelineParts {
  readonly parts: ServerParts;
  readonly faults: Faults;
  readonly audit: AuditLog;
}

export async function serve(
  { parts, faults, audit }: PipelineParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const began = parts.environment.now();
  // Only the path and query are of interest, and a path may begin with two slashes.
  const url = new URL(`https://server${request.url ?? '/'}`);
  const method = request.method ?? 'GET';
  // Most requests never look at their signal, and making one is not free.
  let abort: AbortController | undefined;
  let closed = false;
  response.on('close', () => {
    closed = true;
    abort?.abort();
  });
  const info = requestInfo(method, url.pathname, url.searchParams);
  let user: UserInfo = { name: '', groups: [] };
  const context: RequestContext = {
    info,
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    get user() {
      return user;
    },
    userAgent: request.headers['user-agent'] ?? '',
    get signal() {
      abort ??= new AbortController();
      if (closed) abort.abort();
      return abort.signal;
    },
    warnings: [],
    annotations: {},
    parts,
    body: readBody(request),
  };
  let status = 0;
  /** A create does not name its object in the path; the answer does. */
  let created = '';
  let recorded = false;
  const record = (): void => {
    if (recorded) return;
    recorded = true;
    audit.record({
      time: began,
      user: user.name,
      userAgent: context.userAgent,
      ...askedFor(info),
      name: info.name || created,
      path: request.url ?? '/',
      status,
      milliseconds: parts.environment.now() - began,
      ...(Object.keys(context.annotations).length === 0 ? {} : { annotations: context.annotations }),
      ...(context.warnings.length === 0 ? {} : { warnings: context.warnings }),
    });
  };
  try {
    checkTimeout(info.verb, url.searchParams);
    grantAccess(request, context, (becoming) => {
      user = becoming;
    });
    if (!(await faults.before(context, response))) return;
    const answer = await route(context);
    if (info.verb === 'create' && answer.type === 'object') created = answer.object.metadata.name ?? '';
    if (faults.losesAnswer(context)) response.socket?.destroy();
    else if (!response.destroyed) {
      if (answer.type === 'stream') {
        status = 200;
        // A watch may last for an hour, and counts from its beginning.
        record();
        await stream(context, faults, response, answer);
      } else status = send(context, response, answer);
    }
  } catch (error) {
    const fault = error instanceof ApiError ? error : internalError(message(error), error);
    if (!response.headersSent && !response.destroyed)
      status = send(context, response, {
        type: 'object',
        status: fault.code,
        object: fault.status,
        headers: fault.headers,
      });
    else response.destroy();
  } finally {
    record();
  }
}

/** `?timeout=`, as kubectl --request-timeout sends it; what lasts long by its nature takes no notice of it. */
function checkTimeout(verb: string, query: URLSearchParams): void {
  const timeout = query.get('timeout') ?? '';
  const fault = timeout === '' || verb === 'watch' ? undefined : durationFault(timeout);
  if (fault !== undefined) throw badRequest(`invalid timeout specified in the request URL - ${fault}`);
}

async function route(context: RequestContext): Promise<Answer> {
  if (context.info.isResource) return dispatch(context);
  const unserved = unservedPath(context.path);
  if (unserved !== undefined) throw notImplemented(unserved);
  return discover(context) ?? pageNotFound;
}

function send(
  context: RequestContext,
  response: ServerResponse,
  answer: Exclude<Answer, StreamAnswer>,
): number {
  const { status, contentType, text, headers } = encode(context, answer);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (context.warnings.length > 0) response.setHeader('Warning', context.warnings.map(warningHeader));
  response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-cache, private' });
  response.end(text);
  return status;
}

async function stream(
  context: RequestContext,
  faults: Faults,
  response: ServerResponse,
  answer: StreamAnswer,
): Promise<void> {
  if (context.warnings.length > 0) response.setHeader('Warning', context.warnings.map(warningHeader));
  response.writeHead(200, { 'Content-Type': answer.contentType, 'Cache-Control': 'no-cache, private' });
  response.flushHeaders();
  await faults.watching(context, response, (sink) => answer.run(sink));
  response.end();
}

/** Warnings may come from anywhere (webhooks, field names), so nothing in them may end the header or the request. */
function warningHeader(text: string): string {
  const printable = text.replaceAll(/\p{Cc}+/gu, ' ').slice(0, warningLimit);
  const quoted = printable.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  // Header values are bytes: the bytes of UTF-8, one by one.
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}

const warningLimit = 4096;

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
