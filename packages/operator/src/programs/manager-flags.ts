/** The flags of the manager program: upstream's names and defaults, and a few of our own. */

import type { ExchangeOptions } from '../exchange/setup.ts';
import { type NodeConditionRule, parseNodeConditionRule } from '../kinds/nodeset/model/node-conditions.ts';
import { clusterDomainOf, usualClusterDomain } from './cluster-domain.ts';
import { type Address, address, count, domain, duration, list, oneOf, text, toggle } from './flag-types.ts';
import { type LogSettings, logSettings } from './log-flags.ts';
import type { OperatorOptions } from './operator.ts';
import { type Flag, FlagError, type FlagValues, parseFlags, usage } from './parse-flags.ts';
import { type ServingSettings, servingFlags, servingSettings } from './serving-flags.ts';

const atATime = (kind: string) => count(1, `maximum number of concurrent ${kind} reconciles`);

const nodeConditions = (about: string): Flag<readonly NodeConditionRule[]> => {
  const { read, ...rest } = list(about);
  return {
    ...rest,
    read: (value) =>
      read(value).map((one) => {
        const rule = parseNodeConditionRule(one);
        if (rule === undefined)
          throw new FlagError(
            `use types of Node conditions such as DiskFull, GpuBroken:30s or example.com/GpuHealthy=False:1m, not "${one}"`,
          );
        return rule;
      }),
  };
};

export const managerFlagTable = {
  ...servingFlags({ metrics: ':8080' }),
  'propagated-node-conditions': nodeConditions(
    'Node conditions, comma-separated. TYPE or TYPE=False: its message becomes the reason when the Node is cordoned. With :DURATION, as in GpuBroken:30s, it also drains the Slurm nodes of the Node after that time, until it ends',
  ),
  'account-workers': count(128, 'maximum number of concurrent Account reconciles; they share their requests'),
  'accounting-workers': atATime('Accounting'),
  'controller-workers': atATime('Controller'),
  'loginset-workers': atATime('LoginSet'),
  'nodeset-workers': atATime('NodeSet'),
  'nodeset-parallel': count(16, 'maximum number of concurrent requests for one NodeSet'),
  'qos-workers': count(
    64,
    'maximum number of concurrent QualityOfService reconciles; they share their requests',
  ),
  'restapi-workers': atATime('RestApi'),
  'slurmclient-workers': atATime('Cluster'),
  'token-workers': atATime('Token'),
  profile: toggle(false, 'serve CPU and heap profiles at /debug/pprof'),
  'profile-addr': address('localhost:6060', 'address at which profiles are served'),
  'slurm-request-timeout': duration('20s', 'timeout of a request to Slurm'),
  'slurm-backoff-initial': duration(
    '1s',
    'delay after the first failed connection to Slurm; doubles with each failure',
  ),
  'slurm-backoff-max': duration('15m', 'longest delay between two attempts to connect to Slurm'),
  'slurm-poll-period': duration('5s', 'polling interval of Slurm when idle'),
  'key-step-period': duration(
    '60s',
    'least time between two steps of a change of slurm.key: for daemons outside of the operator, which it does not see',
  ),
  'image-repository': text('slurm-operator', 'repository of images that no custom resource sets'),
  'image-tag': text('26.05', 'tag of images that no custom resource sets'),
  'cluster-domain': domain('DNS domain of Services; empty: from /etc/resolv.conf, else cluster.local'),
  'token-exchange-addr': address(
    '0',
    'address at which Kubernetes identities are exchanged for Slurm tokens of five minutes, such as :9444',
  ),
  'token-exchange-audiences': list(
    'audiences that a token to exchange must be for, comma-separated (default the API server)',
  ),
  'token-exchange-user-prefix': text('', 'beginning of user names in Kubernetes that Slurm does not know'),
  'token-exchange-user-suffix': text('', 'end of user names in Kubernetes that Slurm does not know'),
  'reach-services-by': oneOf(
    ['name', 'address'],
    'name',
    'how to reach Services; use address for an operator outside of the cluster',
  ),
};

export interface ManagerFlags extends OperatorOptions {
  readonly serving: ServingSettings;
  readonly log: LogSettings;
  /** Where profiles are served, if they are. */
  readonly profile: Address | undefined;
  /** How identities are exchanged, if they are. */
  readonly exchange: Omit<ExchangeOptions, 'namespace'> | undefined;
  /** Where the program runs, if its environment says so. */
  readonly podNamespace: string | undefined;
}

/** Throws {@link FlagError}, a sentence for people, when a flag is wrong. `resolvConf` is the text of /etc/resolv.conf. */
export function managerFlags(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  resolvConf = '',
): ManagerFlags | { readonly usage: string } {
  const flags = parseFlags(managerFlagTable, args);
  if (flags === undefined)
    return { usage: usage('slurm-operator manager: runs Slurm clusters on Kubernetes.', managerFlagTable) };
  if (flags['slurm-backoff-max'] < flags['slurm-backoff-initial'])
    throw new FlagError('--slurm-backoff-max is less than --slurm-backoff-initial: set a longer duration');
  const image = (name: string) => `${flags['image-repository']}/${name}:${flags['image-tag']}`;
  return {
    serving: servingSettings(flags, env),
    log: logSettings(flags, env),
    profile: flags.profile ? flags['profile-addr'] : undefined,
    exchange: exchange(flags),
    podNamespace: env['POD_NAMESPACE'] || undefined,
    keyStepPeriod: flags['key-step-period'],
    clusterDomain: flags['cluster-domain'] || clusterDomainOf(resolvConf) || usualClusterDomain,
    reachBy: flags['reach-services-by'],
    images: {
      slurmctld: image('slurmctld'),
      slurmd: image('slurmd'),
      slurmdbd: image('slurmdbd'),
      slurmrestd: image('slurmrestd'),
      login: image('login'),
    },
    workers: workers(flags),
    nodeSetParallel: flags['nodeset-parallel'],
    propagatedConditions: flags['propagated-node-conditions'],
    slurm: {
      requestTimeoutMs: flags['slurm-request-timeout'],
      backoff: { initial: flags['slurm-backoff-initial'], limit: flags['slurm-backoff-max'] },
      pollPeriodMs: flags['slurm-poll-period'],
    },
  };
}

function exchange(flags: FlagValues<typeof managerFlagTable>): ManagerFlags['exchange'] {
  const at = flags['token-exchange-addr'];
  if (at === undefined) return undefined;
  const users = {
    prefix: flags['token-exchange-user-prefix'],
    suffix: flags['token-exchange-user-suffix'],
  };
  return { address: at, users, audiences: flags['token-exchange-audiences'] };
}

function workers(flags: FlagValues<typeof managerFlagTable>): OperatorOptions['workers'] {
  return {
    accounting: flags['accounting-workers'],
    account: flags['account-workers'],
    qos: flags['qos-workers'],
    controller: flags['controller-workers'],
    loginset: flags['loginset-workers'],
    nodeset: flags['nodeset-workers'],
    restapi: flags['restapi-workers'],
    slurmclient: flags['slurmclient-workers'],
    token: flags['token-workers'],
  };
}
