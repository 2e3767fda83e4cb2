import { apiError, type Status } from '../errors.ts';
import type { TransportResponse } from '../transport/transport.ts';

/** The error that an answer other than 2xx stands for. */
export function refusal(doing: string, response: TransportResponse): Error {
  const text = response.body.toString('utf8');
  const seconds = Number.parseFloat(response.headers['retry-after'] ?? '');
  let body: Status | undefined;
  try {
    const parsed = JSON.parse(text) as Status | null;
    if (parsed?.kind === 'Status') body = parsed;
  } catch {
    // Not a Status: the text itself is the explanation.
  }
  return apiError(`cannot ${doing}`, {
    status: response.status,
    text,
    ...(body === undefined ? {} : { body }),
    ...(Number.isNaN(seconds) ? {} : { retryAfter: seconds * 1000 }),
  });
}
