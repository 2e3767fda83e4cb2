/** Kubeconfig files: merged as kubectl does, with one context and every supported kind of credential. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import {
  Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigEntry,
  type KubeconfigUser,
} from '@slurm-operator/kubernetes-values';
import { type Clock, systemClock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { type ClusterConfig, type Identity, RotatingFiles, stableIdentity } from './config.ts';
import { ExecCredentials } from './exec-credential.ts';
import { inClusterConfig, runsInCluster } from './in-cluster.ts';

type Cluster = KubeconfigEntry<KubeconfigCluster>;
type User = KubeconfigEntry<KubeconfigUser>;

export interface KubeconfigOptions {
  /** File names. @default those of KUBECONFIG, else ~/.kube/config */
  readonly files?: readonly string[];
  /** The text of a kubeconfig, instead of files. */
  readonly text?: string;
  /** @default the current-context of the file */
  readonly context?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
}

export function kubeconfigFiles(env: Readonly<Record<string, string | undefined>> = process.env): string[] {
  const named = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  return named.length > 0 ? named : [join(env['HOME'] ?? homedir(), '.kube', 'config')];
}

export async function kubeconfigConfig(options: KubeconfigOptions = {}): Promise<ClusterConfig> {
  const merged = new Kubeconfig();
  if (options.text !== undefined) {
    merged.add(await parseYaml(options.text, 'the given kubeconfig'), process.cwd());
  } else {
    const files = options.files ?? kubeconfigFiles(options.env);
    let found = 0;
    for (const file of files) {
      const text = await readIfThere(file);
      if (text === undefined) continue;
      found += 1;
      merged.add(await parseYaml(text, file), dirname(resolve(file)));
    }
    if (found === 0) throw new ConfigError(`no kubeconfig found; looked for ${files.join(', ')}`);
  }
  return choose(merged, options.context, options.clock ?? systemClock);
}

async function parseYaml(text: string, where: string): Promise<unknown> {
  const { parse } = await import('yaml');
  try {
    return parse(text);
  } catch (error) {
    throw new ConfigError(`${where} is not YAML`, { cause: error });
  }
}

function choose(merged: Kubeconfig, wanted: string | undefined, clock: Clock): ClusterConfig {
  const name = wanted ?? merged.currentContext;
  const known = [...merged.contexts.keys()].join(', ') || 'none';
  if (name === '') throw new ConfigError(`the kubeconfig sets no current-context; contexts: ${known}`);
  const context = merged.contexts.get(name);
  if (context === undefined)
    throw new ConfigError(`the kubeconfig has no context "${name}"; contexts: ${known}`);
  const cluster = merged.clusters.get(context.cluster ?? '');
  if (cluster?.value.server === undefined)
    throw new ConfigError(`context "${name}" names cluster "${context.cluster ?? ''}", which has no server`);
  const user = merged.users.get(context.user ?? '') ?? { value: {}, directory: '.' };
  const { value } = cluster;
  return {
    server: value.server?.replace(/\/+$/, '') ?? '',
    namespace: context.namespace ?? 'default',
    ...(value['tls-server-name'] === undefined ? {} : { serverName: value['tls-server-name'] }),
    ...(value['insecure-skip-tls-verify'] === true ? { insecure: true } : {}),
    ...(value['proxy-url'] === undefined ? {} : { proxyUrl: value['proxy-url'] }),
    headers: impersonation(name, user.value),
    identity: identitySource(cluster, user, clock),
  };
}

/** Impersonation headers. Without a user name, uid, groups and extra fields are refused, as in kubectl. */
function impersonation(context: string, user: KubeconfigUser): ClusterConfig['headers'] {
  const { as, 'as-uid': uid, 'as-groups': groups = [], 'as-user-extra': extra = {} } = user;
  if (as === undefined) {
    if (uid !== undefined || groups.length > 0 || Object.keys(extra).length > 0)
      throw new ConfigError(
        `the user of context "${context}" has as-uid, as-groups or as-user-extra but no "as"; name the user to act as`,
      );
    return {};
  }
  return {
    'Impersonate-User': as,
    ...(uid === undefined ? {} : { 'Impersonate-Uid': uid }),
    ...(groups.length === 0 ? {} : { 'Impersonate-Group': groups }),
    // Keys may contain characters that header names may not.
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`Impersonate-Extra-${encodeURIComponent(key)}`, values]),
    ),
  };
}

function identitySource(cluster: Cluster, user: User, clock: Clock): ClusterConfig['identity'] {
  for (const removed of ['auth-provider', 'username'] as const)
    if (user.value[removed] !== undefined)
      throw new ConfigError(
        `the kubeconfig user has ${removed}, which Kubernetes removed; use a token, a certificate or an exec plugin`,
      );
  const files = new RotatingFiles(clock);
  const stable = stableIdentity();
  const plugin =
    user.value.exec === undefined ? undefined : new ExecCredentials(user.value.exec, cluster.value, clock);
  const ca = pemReader(cluster, 'certificate-authority', files);
  const cert = pemReader(user, 'client-certificate', files);
  const key = pemReader(user, 'client-key', files);
  return async ({ refused }) => {
    const exec = await plugin?.get(refused);
    const caPem = await ca(refused);
    const certPem = exec?.cert ?? (await cert(refused));
    const keyPem = exec?.key ?? (await key(refused));
    const token = exec?.token ?? (await bearer(user, files, refused));
    const next: Identity = {
      ...(caPem === undefined ? {} : { ca: caPem }),
      ...(certPem === undefined ? {} : { cert: certPem }),
      ...(keyPem === undefined ? {} : { key: keyPem }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    return stable(next);
  };
}

/** Reads a field that is either base64 data or the name of a file that may be rotated. */
function pemReader(
  entry: { value: object; directory: string },
  field: string,
  files: RotatingFiles,
): (refused: boolean) => Promise<string | undefined> {
  const fields = entry.value as Record<string, string | undefined>;
  const data = fields[`${field}-data`] ?? '';
  if (data !== '') {
    const pem = Promise.resolve(Buffer.from(data, 'base64').toString('utf8'));
    return () => pem;
  }
  const file = fields[field] ?? '';
  if (file === '') return () => Promise.resolve(undefined);
  return (refused) => files.read(resolve(entry.directory, file), field, refused);
}

/** A token file takes precedence over a token, as in kubectl. */
async function bearer(user: User, files: RotatingFiles, refused: boolean): Promise<string | undefined> {
  const { tokenFile, token } = user.value;
  if (tokenFile !== undefined && tokenFile !== '')
    return (await files.read(resolve(user.directory, tokenFile), 'token file', refused)).trim();
  return token === '' ? undefined : token;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ConfigError(`cannot read the kubeconfig ${file}`, { cause: error });
  }
}

/**
 * The configuration a program should use: an explicit kubeconfig (option or KUBECONFIG), else the service account of
 * the pod it runs in, else ~/.kube/config.
 */
export async function loadConfig(options: KubeconfigOptions = {}): Promise<ClusterConfig> {
  const env = options.env ?? process.env;
  const explicit =
    options.files !== undefined || options.text !== undefined || (env['KUBECONFIG'] ?? '') !== '';
  if (!explicit && runsInCluster({ env })) return inClusterConfig({ env });
  return kubeconfigConfig(options);
}
