/** A cluster that a kubeconfig names, as a backend. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Backend } from './backend.ts';

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly contexts?: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly clusters?: readonly {
    readonly name: string;
    readonly cluster: Readonly<Record<string, string>>;
  }[];
  readonly users?: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
}

export function givenCluster(file: string): Backend {
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig;
  const context = named(config.contexts, config['current-context'] ?? '', 'context', file).context;
  const { cluster } = named(config.clusters, context.cluster, 'cluster', file);
  const { user } = named(config.users, context.user, 'user', file);
  const text = (of: Readonly<Record<string, string>>, key: string): string | undefined => {
    const data = of[`${key}-data`];
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
    const path = of[key];
    return path === undefined ? undefined : readFileSync(resolve(dirname(file), path), 'utf8');
  };
  const backend = {
    caPem: text(cluster, 'certificate-authority'),
    certificatePem: text(user, 'client-certificate'),
    keyPem: text(user, 'client-key'),
    token: user['token'],
  };
  if (backend.token === undefined && backend.certificatePem === undefined)
    throw new Error(
      `user ${context.user} of ${file} has neither a token nor a client certificate: the contract suite knows no other credentials`,
    );
  const present = Object.fromEntries(Object.entries(backend).filter(([, value]) => value !== undefined));
  return { name: `the cluster of ${file}`, url: cluster['server'] ?? '', controllers: true, ...present };
}

function named<T extends { readonly name: string }>(
  list: readonly T[] | undefined,
  name: string,
  what: string,
  file: string,
): T {
  const found = list?.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${file} has no ${what} named ${JSON.stringify(name)}`);
  return found;
}
