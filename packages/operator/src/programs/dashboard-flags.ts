/** The flags of the dashboard program. */
import type { DashboardSettings } from '../dashboard/setup.ts';
import { clusterDomainOf, usualClusterDomain } from './cluster-domain.ts';
import { address, domain, list, oneOf, text, toggle } from './flag-types.ts';
import { type LogSettings, logSettings } from './log-flags.ts';
import { FlagError, type FlagValues, parseFlags, usage } from './parse-flags.ts';
import { type ServingSettings, servingFlags, servingSettings } from './serving-flags.ts';

/** Without the flags of an election, which there is none of. */
const {
  'leader-elect': _elect,
  'leader-elect-namespace': _namespace,
  'leader-elect-name': _name,
  ...serving
} = servingFlags({ metrics: '0' });

export const dashboardFlagTable = {
  ...serving,
  'dashboard-addr': address(':8090', 'address of the web page'),
  'page-directory': text('/usr/share/slurm-operator/dashboard', 'folder with the files of the page'),
  hosts: list('names under which browsers reach the page, comma-separated (default any)'),
  'secure-cookies': toggle(true, 'browsers come over TLS; false for plain HTTP on loopback only'),
  'user-prefix': text(
    '',
    'beginning of user names in Kubernetes that Slurm does not know, as in the token exchange',
  ),
  'user-suffix': text(
    '',
    'end of user names in Kubernetes that Slurm does not know, as in the token exchange',
  ),
  'exchange-namespace': text('', 'namespace of the operator (default the namespace of the program)'),
  'exchange-selector': text(
    'app.kubernetes.io/component=operator',
    'label selector of the pods of the operator',
  ),
  'cluster-domain': domain('DNS domain of Services; empty: from /etc/resolv.conf, else cluster.local'),
  'reach-services-by': oneOf(
    ['name', 'address'],
    'name',
    'how to reach Services; use address for a dashboard outside of the cluster',
  ),
  'proxy-secret-file': text(
    '',
    'file with the secret by which a proxy that has authenticated the user proves itself; empty: no proxy',
  ),
  'proxy-secret-header': text('x-proxy-secret', 'header in which the proxy sends the secret'),
  'proxy-user-header': text('x-forwarded-user', 'header with the name of the user'),
  'proxy-act-as-users': toggle(
    false,
    'ask the token exchange for the people whom the proxy has logged in; needs the right to impersonate clusters/users',
  ),
  'proxy-groups-header': text('x-forwarded-groups', 'header with the groups of the user, comma-separated'),
};

export interface DashboardFlags {
  readonly serving: ServingSettings;
  readonly log: LogSettings;
  readonly dashboard: DashboardSettings;
}

/** Throws {@link FlagError}, a sentence for people, when a flag is wrong. */
export function dashboardFlags(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  resolvConf = '',
): DashboardFlags | { readonly usage: string } {
  const flags = parseFlags(dashboardFlagTable, args);
  if (flags === undefined)
    return { usage: usage('slurm-operator dashboard: a web page of Slurm clusters.', dashboardFlagTable) };
  const at = flags['dashboard-addr'];
  if (at === undefined)
    throw new FlagError('--dashboard-addr is 0: the dashboard needs an address, such as :8090');
  const noElection = { 'leader-elect': false, 'leader-elect-namespace': '', 'leader-elect-name': '' };
  return {
    serving: servingSettings({ ...flags, ...noElection }, env),
    log: logSettings(flags, env),
    dashboard: {
      address: at,
      page: flags['page-directory'],
      hosts: flags.hosts.map((host) => host.toLowerCase()),
      secure: flags['secure-cookies'],
      users: { prefix: flags['user-prefix'], suffix: flags['user-suffix'] },
      exchange: {
        namespace: exchangeNamespace(flags['exchange-namespace'], env),
        selector: flags['exchange-selector'],
      },
      clusterDomain: flags['cluster-domain'] || clusterDomainOf(resolvConf) || usualClusterDomain,
      reachBy: flags['reach-services-by'],
      proxy: proxyOf(flags),
    },
  };
}

function exchangeNamespace(asked: string, env: Readonly<Record<string, string | undefined>>): string {
  const namespace = asked || env['POD_NAMESPACE'] || '';
  if (namespace === '')
    throw new FlagError(
      '--exchange-namespace is missing, and POD_NAMESPACE is not set: name the namespace of the operator',
    );
  return namespace;
}

function proxyOf(flags: FlagValues<typeof dashboardFlagTable>): DashboardSettings['proxy'] {
  const secretFile = flags['proxy-secret-file'];
  if (secretFile === '') return undefined;
  return {
    secretFile,
    actAsUsers: flags['proxy-act-as-users'],
    secretHeader: flags['proxy-secret-header'],
    userHeader: flags['proxy-user-header'],
    groupsHeader: flags['proxy-groups-header'],
  };
}
