/** The flags of the manager program: upstream's names and defaults, and a few of our own. */
import type { OperatorOptions } from '../operator.ts';
import { clusterDomainOf, usualClusterDomain } from './cluster-domain.ts';
import { FlagError } from './errors.ts';
import { type Address, address, count, domain, duration, list, oneOf, text, toggle } from './flag-types.ts';
import { type LogSettings, logSettings } from './log-flags.ts';
import { type FlagValues, parseFlags, usage } from './parse-flags.ts';
import { type ServingSettings, servingFlags, servingSettings } from './serving-flags.ts';

const atATime = (kind: string) => count(1, `${kind} reconciles at a time`);

export const managerFlagTable = {
  ...servingFlags({ metrics: ':8080' }),
  'propagated-node-conditions': list('node conditions whose text becomes the reason of a drain'),
  'accounting-workers': atATime('Accounting'),
  'controller-workers': atATime('Controller'),
  'loginset-workers': atATime('LoginSet'),
  'nodeset-workers': atATime('NodeSet'),
  'nodeset-parallel': count(16, 'requests under way at once for one NodeSet'),
  'restapi-workers': atATime('RestApi'),
  'slurmclient-workers': atATime('Cluster'),
  'token-workers': atATime('Token'),
  profile: toggle(false, 'serve CPU and heap profiles at /debug/pprof'),
  'profile-addr': address('localhost:6060', 'where profiles are served'),
  'slurm-request-timeout': duration('20s', 'how long one request to Slurm may take'),
  'slurm-backoff-initial': duration('1s', 'pause after the first failure to reach Slurm; doubled with each'),
  'slurm-backoff-max': duration('15m', 'longest pause between two tries to reach Slurm'),
  'slurm-poll-period': duration('5s', 'rest between two lists of Slurm while nothing waits for it'),
  'image-repository': text('slurm-operator', 'where images come from that no custom resource names'),
  'image-tag': text('26.05', 'their tag'),
  'cluster-domain': domain('DNS domain of Services; empty: from /etc/resolv.conf, else cluster.local'),
  'reach-services-by': oneOf(
    ['name', 'address'],
    'name',
    'address is for an operator outside of the cluster',
  ),
};

export interface ManagerFlags extends OperatorOptions {
  readonly serving: ServingSettings;
  readonly log: LogSettings;
  /** Where profiles are served, if they are. */
  readonly profile: Address | undefined;
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
    throw new FlagError('--slurm-backoff-max is less than --slurm-backoff-initial: give a longer one');
  const image = (name: string) => `${flags['image-repository']}/${name}:${flags['image-tag']}`;
  return {
    serving: servingSettings(flags, env),
    log: logSettings(flags, env),
    profile: flags.profile ? flags['profile-addr'] : undefined,
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
    propagatedConditions: new Set(flags['propagated-node-conditions']),
    slurm: {
      requestTimeoutMs: flags['slurm-request-timeout'],
      backoff: { initial: flags['slurm-backoff-initial'], limit: flags['slurm-backoff-max'] },
      pollPeriodMs: flags['slurm-poll-period'],
    },
  };
}

function workers(flags: FlagValues<typeof managerFlagTable>): OperatorOptions['workers'] {
  return {
    accounting: flags['accounting-workers'],
    controller: flags['controller-workers'],
    loginset: flags['loginset-workers'],
    nodeset: flags['nodeset-workers'],
    restapi: flags['restapi-workers'],
    slurmclient: flags['slurmclient-workers'],
    token: flags['token-workers'],
  };
}
