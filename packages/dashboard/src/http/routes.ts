/** Routes as data: what a path needs, and what answers it. Pure but for the handlers themselves. */
import type { ClusterRef } from '../identity/access.ts';
import type { Session } from '../identity/sessions.ts';
import type { Right } from '../live/rights.ts';

export interface Asked {
  readonly session: Session;
  readonly cluster: ClusterRef;
  /** Values of `:name` in the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed body of a write. */
  readonly body: unknown;
  readonly ifNoneMatch: string | undefined;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly etag?: string;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** `/api/clusters/:namespace/:cluster/jobs/:job` */
  readonly path: string;
  /** All of them are needed. */
  readonly rights: readonly Right[];
  readonly handle: (asked: Asked) => Promise<Answer> | Answer;
}

export interface Matched {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

export type Match = Matched | 'not found' | 'wrong method';

const longestPart = 253;

export function matchRoute(routes: readonly Route[], method: string, path: string): Match {
  const parts = path.split('/');
  let found = false;
  for (const route of routes) {
    const parameters = parametersOf(route.path.split('/'), parts);
    if (parameters === undefined) continue;
    if (route.method === method) return { route, parameters };
    found = true;
  }
  return found ? 'wrong method' : 'not found';
}

/** A part that does not decode, is empty, too long, or would mean another path matches nothing. */
function parametersOf(
  wanted: readonly string[],
  parts: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (wanted.length !== parts.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const name = wanted[at] ?? '';
    if (!name.startsWith(':')) {
      if (name !== part) return undefined;
      continue;
    }
    const value = decoded(part);
    if (value === undefined || value === '' || value.length > longestPart) return undefined;
    if (value === '.' || value === '..' || value.split('').some(isUnsafe)) return undefined;
    parameters[name.slice(1)] = value;
  }
  return parameters;
}

const isUnsafe = (character: string) => character < ' ' || character === '/' || character === '\\';

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
