/** What it takes to reach one API server. Made by `loadConfig`, or by hand in tests. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';

/** Who we are and whom we trust, as of now. A changed identity is a new object. */
export interface Identity {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The value of the Authorization header. */
  readonly authorization?: string;
}

export interface ClusterConfig {
  /** `https://host:port`, with a path prefix where the server sits behind one. */
  readonly server: string;
  /** The namespace meant when none is given. */
  readonly namespace: string;
  /** The name to expect in the server's certificate, where it is not the host of `server`. */
  readonly serverName?: string;
  /** Do not verify the server's certificate. */
  readonly insecure?: boolean;
  /** An HTTP proxy for this cluster; without it HTTPS_PROXY and NO_PROXY of the environment hold. */
  readonly proxyUrl?: string;
  /** Headers sent with every request (impersonation); one line for each value of a list. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Called before every request. `refused` asks for a fresh one: the server did not take the last. */
  identity(options: { readonly refused: boolean }): Promise<Identity>;
}

/** Files that rotate under us (tokens, certificates) are read again after this long, or at once when refused. */
const FILE_AGE = 10_000;

/** Reads files and remembers them for {@link FILE_AGE}. A file that vanishes for a moment keeps its last content. */
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

/** Hands out the same object as long as nothing in it changed, so that connections are kept. */
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
