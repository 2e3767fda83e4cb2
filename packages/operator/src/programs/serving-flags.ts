/** What both programs take: where they look, whether they elect a leader, and what they serve about themselves. */
import { type Address, address, list, text, toggle } from './flag-types.ts';
import { logFlags } from './log-flags.ts';
import type { FlagValues } from './parse-flags.ts';
import type { Replica } from './step-aside.ts';

export const servingFlags = (standard: { readonly metrics: string }) => ({
  kubeconfig: text(
    '',
    'path of a kubeconfig file (default KUBECONFIG, the service account, or ~/.kube/config)',
  ),
  namespaces: list('namespaces to watch, comma-separated (default all)'),
  'leader-elect': toggle(false, 'elect a leader among several replicas'),
  'leader-elect-namespace': text('', 'namespace of the lease (default the namespace of the program)'),
  'leader-elect-name': text(
    '',
    'name of the lease (default the name of the program): one for each installation in a namespace',
  ),
  'health-addr': address(':8081', 'address of /livez, /healthz and /readyz'),
  'metrics-addr': address(standard.metrics, 'address of /metrics, and of /debug/vars for loopback clients'),
  'metrics-secure': toggle(false, 'serve metrics over TLS, to clients that are authorized to get /metrics'),
  'enable-http2': toggle(false, 'enable HTTP/2 on TLS ports'),
  ...logFlags,
});

export interface ServingSettings {
  readonly kubeconfig: string | undefined;
  readonly namespaces: readonly string[] | undefined;
  readonly leaderElection:
    | { readonly namespace: string | undefined; readonly name: string | undefined }
    | undefined;
  readonly health: Address | undefined;
  readonly metrics: (Address & { readonly secure: boolean }) | undefined;
  readonly http2: boolean;
  /** The pod of the program and its node, where its environment says so. */
  readonly replica: Replica | undefined;
}

export function servingSettings(
  flags: FlagValues<ReturnType<typeof servingFlags>>,
  env: Readonly<Record<string, string | undefined>>,
): ServingSettings {
  const metrics = flags['metrics-addr'];
  const { namespaces } = flags;
  return {
    kubeconfig: flags.kubeconfig === '' ? undefined : flags.kubeconfig,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    leaderElection: flags['leader-elect']
      ? {
          namespace: flags['leader-elect-namespace'] || env['POD_NAMESPACE'] || undefined,
          name: flags['leader-elect-name'] || undefined,
        }
      : undefined,
    health: flags['health-addr'],
    metrics: metrics === undefined ? undefined : { ...metrics, secure: flags['metrics-secure'] },
    http2: flags['enable-http2'],
    replica: replicaOf(env),
  };
}

function replicaOf(env: Readonly<Record<string, string | undefined>>): Replica | undefined {
  const { POD_NAMESPACE: namespace, POD_NAME: name, NODE_NAME: node } = env;
  return namespace && name && node ? { namespace, name, node } : undefined;
}
