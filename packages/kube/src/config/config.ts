/** The configuration of a connection to one API server. Created by `loadConfig`, or literally in tests. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';

/** Current credentials and trusted authority. Changed credentials are a new object. */
export interface Identity {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The value of the Authorization header. */
  readonly authorization?: string;
}

export interface ClusterConfig {
  /** `https://host:port`, optionally with a path prefix. */
  readonly server: string;
  /** The default namespace. */
  readonly namespace: string;
  /** The name in the server's certificate. @default the host of `server` */
  readonly serverName?: string;
  /** Do not verify the server's certificate. */
  readonly insecure?: boolean;
  /** An HTTP proxy for this cluster. @default HTTPS_PROXY and NO_PROXY of the environment */
  readonly proxyUrl?: string;
  /** Headers sent with every request (impersonation); one line for each value of a list. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Called before every request. `refused`: the server rejected the last identity, so read it again. */
  identity(options: { readonly refused: boolean }): Promise<Identity>;
}

/** Rotating files (tokens, certificates) are read again after this long, or at once after a refusal. */
const FILE_AGE = 10_000;

/** Reads files and caches them for {@link FILE_AGE}. While a file is missing its last content is used. */
export class RotatingFiles {
  readonly #clock: Clock;
  readonly #known = new Map<string, { text: string; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read(path: string, what: string, refused = false): Promise<string> {
    const known = this.#known.get(path);
    if (known !== undefined && !refused && this.#clock.monotonic() - known.at < FILE_AGE) return known.text;
    try {
      const text = await readFile(path, 'utf8');
      this.#known.set(path, { text, at: this.#clock.monotonic() });
      return text;
    } catch (error) {
      if (known !== undefined) return known.text;
      throw new ConfigError(`cannot read the ${what} at ${path}`, { cause: error });
    }
  }
}

/** Returns the same object as long as nothing in it changes, so that connections are reused. */
export function stableIdentity(): (next: Identity) => Identity {
  let last: Identity = {};
  return (next) => {
    if (
      next.ca !== last.ca ||
      next.cert !== last.cert ||
      next.key !== last.key ||
      next.authorization !== last.authorization
    )
      last = next;
    return last;
  };
}
