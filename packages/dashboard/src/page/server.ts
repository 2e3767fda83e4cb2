/** Asks the server. Every answer that is no success becomes one sentence. */
export class ServerError extends Error {
  readonly status: number;
  readonly field: string | undefined;

  constructor(status: number, message: string, field?: string) {
    super(message);
    this.status = status;
    this.field = field;
  }
}

const timeoutMs = 30_000;
const ended = new Set<() => void>();

/** Runs when the server no longer knows who this is: the session is over, or the server has restarted. */
export function onSessionEnd(listener: () => void): void {
  ended.add(listener);
}

export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>(path, { method: 'GET' }, signal);
}

export async function write<T>(path: string, body: unknown): Promise<T> {
  return ask<T>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function ask<T>(path: string, init: RequestInit, signal?: AbortSignal): Promise<T> {
  const limit = AbortSignal.timeout(timeoutMs);
  let response: Response;
  try {
    response = await fetch(path, {
      ...init,
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ServerError(0, 'The dashboard does not answer. This page tries again.');
  }
  const text = await response.text();
  const body = parsed(text);
  if (!response.ok) {
    const { message = `The dashboard answers ${response.status}.`, field } = body as {
      message?: string;
      field?: string;
    };
    if (response.status === 401 && path !== '/api/login') for (const listener of ended) listener();
    throw new ServerError(response.status, message, field);
  }
  return body as T;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
