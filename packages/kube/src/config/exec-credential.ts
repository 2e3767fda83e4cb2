/** Credentials from an exec plugin as in kubectl: a program that prints an ExecCredential, which is cached until it expires. */
import { execFile } from 'node:child_process';
import type { ExecPlugin } from '@slurm-operator/kubernetes-values';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';

export interface ExecCredential {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

interface ExecStatus {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

const DEADLINE = 60_000;
/** Renewed this long before it expires, so that no request is sent with a token that expires on the way. */
const MARGIN = 10_000;

/** Runs the plugin when there is no credential, it is about to expire, or the server refused it. Single-flight. */
export class ExecCredentials {
  readonly #plugin: ExecPlugin;
  readonly #cluster: object;
  readonly #clock: Clock;
  #current: { credential: ExecCredential; expires: number } | undefined;
  #running: Promise<ExecCredential> | undefined;

  constructor(plugin: ExecPlugin, cluster: object, clock: Clock) {
    this.#plugin = plugin;
    this.#cluster = cluster;
    this.#clock = clock;
  }

  get(refused: boolean): Promise<ExecCredential> {
    const current = this.#current;
    if (current !== undefined && !refused && this.#clock.now() < current.expires - MARGIN)
      return Promise.resolve(current.credential);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<ExecCredential> {
    const plugin = this.#plugin;
    const apiVersion = plugin.apiVersion ?? 'client.authentication.k8s.io/v1';
    const spec =
      plugin.provideClusterInfo === true
        ? { interactive: false, cluster: this.#cluster }
        : { interactive: false };
    const env = {
      ...process.env,
      KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec }),
    };
    for (const { name, value } of plugin.env ?? []) Object.assign(env, { [name]: value });
    const stdout = await new Promise<string>((resolve, reject) => {
      const child = execFile(
        plugin.command,
        [...(plugin.args ?? [])],
        { env, timeout: DEADLINE, maxBuffer: 1 << 20 },
        (error, out, err) => {
          if (error === null) return resolve(out);
          const hint = plugin.installHint === undefined ? '' : ` (${plugin.installHint.trim()})`;
          // The plugin's stdout is secret; its stderr is meant for users.
          reject(
            new ConfigError(
              `exec plugin ${plugin.command} failed${hint}: ${err.trim().slice(0, 500) || error.code}`,
            ),
          );
        },
      );
      child.stdin?.end();
    });
    const status = parse(plugin.command, stdout);
    const credential: ExecCredential = {
      ...(status.token === undefined ? {} : { token: status.token }),
      ...(status.clientCertificateData === undefined ? {} : { cert: status.clientCertificateData }),
      ...(status.clientKeyData === undefined ? {} : { key: status.clientKeyData }),
    };
    const expires = Date.parse(status.expirationTimestamp ?? '');
    this.#current = { credential, expires: Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires };
    return credential;
  }
}

function parse(command: string, stdout: string): ExecStatus {
  let status: ExecStatus | undefined;
  try {
    status = (JSON.parse(stdout) as { status?: ExecStatus }).status;
  } catch {
    throw new ConfigError(
      `exec plugin ${command} printed no JSON on stdout; it must print an ExecCredential`,
    );
  }
  if (status?.token === undefined && status?.clientCertificateData === undefined)
    throw new ConfigError(`exec plugin ${command} returned neither a token nor a client certificate`);
  return status;
}
