/**
 * What a kubeconfig holds: entries of several files merged as kubectl merges them, and a file of one context written. Documents go
 * in and out as plain data, so that only those who read or write files need YAML. Pure.
 */

export interface KubeconfigCluster {
  readonly server?: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'tls-server-name'?: string;
  readonly 'proxy-url'?: string;
}

export interface KubeconfigUser {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: unknown;
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly exec?: ExecPlugin;
  readonly 'auth-provider'?: unknown;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
}

/** A program that prints credentials. */
export interface ExecPlugin {
  readonly apiVersion?: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
}

export interface KubeconfigContext {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** An entry remembers the directory that its relative paths start from. */
export interface KubeconfigEntry<T> {
  readonly value: T;
  readonly directory: string;
}

/** Files merged in order: the first to name an entry, or the current context, wins. */
export class Kubeconfig {
  currentContext = '';
  readonly clusters = new Map<string, KubeconfigEntry<KubeconfigCluster>>();
  readonly users = new Map<string, KubeconfigEntry<KubeconfigUser>>();
  readonly contexts = new Map<string, KubeconfigContext>();

  /** `document` is the parsed file; what is no kubeconfig adds nothing. */
  add(document: unknown, directory: string): void {
    const raw = isRecord(document) ? document : {};
    const current = raw['current-context'];
    if (this.currentContext === '' && typeof current === 'string') this.currentContext = current;
    for (const [name, value] of named(raw['clusters'], 'cluster'))
      if (!this.clusters.has(name)) this.clusters.set(name, { value, directory });
    for (const [name, value] of named(raw['users'], 'user'))
      if (!this.users.has(name)) this.users.set(name, { value, directory });
    for (const [name, value] of named(raw['contexts'], 'context'))
      if (!this.contexts.has(name)) this.contexts.set(name, value);
  }
}

export interface KubeconfigOptions {
  readonly url: string;
  readonly caPem: string;
  readonly user: string;
  readonly credentials:
    | { readonly certificatePem: string; readonly keyPem: string }
    | { readonly token: string };
  /** Names the cluster and the context. */
  readonly name: string;
}

/** The document of a kubeconfig with one context. */
export function kubeconfigDocument({ url, caPem, user, credentials, name }: KubeconfigOptions) {
  const identity: KubeconfigUser =
    'token' in credentials
      ? { token: credentials.token }
      : {
          'client-certificate-data': base64(credentials.certificatePem),
          'client-key-data': base64(credentials.keyPem),
        };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': base64(caPem) } }],
    users: [{ name: user, user: identity }],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The entries of a list of `{ name, [field]: … }`. */
function named(list: unknown, field: string): [name: string, value: object][] {
  if (!Array.isArray(list)) return [];
  return list.filter(isRecord).flatMap((entry): [string, object][] => {
    const { name, [field]: value } = entry;
    return typeof name === 'string' ? [[name, isRecord(value) ? value : {}]] : [];
  });
}
