/** The connection to Kubernetes that the flags ask for, as kubectl reads them. */
import { readFile } from 'node:fs/promises';
import { type ClusterConfig, ConfigError, type Identity, loadConfig } from '@slurm-operator/kube';
import { CliError } from '../errors.ts';
import type { CommandLine } from '../line.ts';

export interface ConnectOptions {
  readonly line: CommandLine;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Used by tests instead of a kubeconfig. */
  readonly given: ClusterConfig | undefined;
}

export async function connection({ line, env, given }: ConnectOptions): Promise<ClusterConfig> {
  const base = given ?? (await fromFiles(line, env));
  const server = line.text('server');
  const serverName = line.text('tls-server-name');
  return {
    ...base,
    ...(server === undefined ? {} : { server: addressOf(server) }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(line.has('insecure-skip-tls-verify') ? { insecure: true } : {}),
    headers: { ...base.headers, ...impersonation(line) },
    identity: await identityOf(base, line),
  };
}

async function fromFiles(
  line: CommandLine,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ClusterConfig> {
  const [file, context] = ['kubeconfig', 'context'].map((flag) => line.text(flag));
  try {
    return await loadConfig({
      env,
      ...(file === undefined ? {} : { files: [file] }),
      ...(context === undefined ? {} : { context }),
    });
  } catch (error) {
    const isEnough = line.has('server') && file === undefined && context === undefined;
    if (!isEnough || !(error instanceof ConfigError)) throw error;
    return { server: '', namespace: 'default', identity: () => Promise.resolve({}) };
  }
}

function addressOf(text: string): string {
  if (!/^https?:\/\/[^\s]+$/.test(text))
    throw new CliError(`--server must be an address such as https://10.0.0.1:6443, not "${text}".`);
  return text.replace(/\/+$/, '');
}

/** Groups or a UID without a user are refused, as in kubectl. */
function impersonation(line: CommandLine): NonNullable<ClusterConfig['headers']> {
  const [as, uid, groups] = [line.text('as'), line.text('as-uid'), line.texts('as-group')];
  if (as === undefined) {
    if (uid !== undefined || groups.length > 0)
      throw new CliError('--as-group and --as-uid need --as: name the user to act as.');
    return {};
  }
  return {
    'Impersonate-User': as,
    ...(uid === undefined ? {} : { 'Impersonate-Uid': uid }),
    ...(groups.length === 0 ? {} : { 'Impersonate-Group': groups }),
  };
}

/** What flags give replaces what the kubeconfig has. */
async function identityOf(base: ClusterConfig, line: CommandLine): Promise<ClusterConfig['identity']> {
  const file = async (flag: string) => {
    const path = line.text(flag);
    if (path === undefined) return undefined;
    return readFile(path, 'utf8').catch((cause: unknown) => {
      throw new CliError(`--${flag}: ${path} cannot be read.`, { cause });
    });
  };
  const [ca, cert, key] = [
    await file('certificate-authority'),
    await file('client-certificate'),
    await file('client-key'),
  ];
  const token = line.text('token');
  if ([ca, cert, key, token].every((each) => each === undefined)) return base.identity;
  const own = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  let last: readonly [Identity, Identity] | undefined;
  return async (options) => {
    const read = await base.identity(options);
    // The same object as long as nothing changes, so that connections are reused.
    if (last?.[0] !== read) last = [read, { ...read, ...own }];
    return last[1];
  };
}
