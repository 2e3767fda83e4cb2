/** Configuration of a program in a pod: the mounted service account, read again when the kubelet rotates it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { type ClusterConfig, RotatingFiles, stableIdentity } from './config.ts';

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** @default /var/run/secrets/kubernetes.io/serviceaccount */
  readonly mount?: string;
  readonly clock?: Clock;
}

export function runsInCluster(options: InClusterOptions = {}): boolean {
  const env = options.env ?? process.env;
  return (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '' && existsSync(join(options.mount ?? MOUNT, 'token'));
}

export async function inClusterConfig(options: InClusterOptions = {}): Promise<ClusterConfig> {
  const env = options.env ?? process.env;
  const mount = options.mount ?? MOUNT;
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  if (host === '')
    throw new ConfigError('KUBERNETES_SERVICE_HOST is not set: this program does not run in a pod');
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  const files = new RotatingFiles(options.clock ?? systemClock);
  const stable = stableIdentity();
  const namespace = (await files.read(join(mount, 'namespace'), 'namespace of the service account')).trim();
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace,
    async identity({ refused }) {
      const ca = await files.read(join(mount, 'ca.crt'), 'certificate authority', refused);
      const token = await files.read(join(mount, 'token'), 'service account token', refused);
      return stable({ ca, authorization: `Bearer ${token.trim()}` });
    },
  };
}
