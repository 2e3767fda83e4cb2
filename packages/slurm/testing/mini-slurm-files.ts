/** The files and commands of a mini Slurm: pure text, no I/O. */
import type { BoxOptions } from '@slurm-operator/sandbox';
import type { SlurmRelease } from './slurm-rootfs.ts';

type Files = NonNullable<BoxOptions['files']>;

/** Debian's number of the account "slurm". */
const slurm = { uid: 64030, gid: 64030 };

export const addresses = { controller: '10.79.0.10', accounting: '10.79.0.11', rest: '10.79.0.12' } as const;
export const nodeAddress = (index: number) => `10.79.0.${100 + index}`;

export interface MiniSlurmPlan {
  readonly release: SlurmRelease;
  readonly accounting: boolean;
  /** Lines added to slurm.conf. */
  readonly configuration: readonly string[];
  /** Scripts of slurmctld: path → text. */
  readonly scripts?: Readonly<Record<string, string>> | undefined;
  /** 1 KiB shared by all daemons (auth/slurm). */
  readonly slurmKey: string;
  readonly jwtKey: string;
}

const hosts = {
  path: '/etc/hosts',
  content: `127.0.0.1 localhost\n${addresses.controller} slurmctl\n${addresses.accounting} slurmdbd\n${addresses.rest} slurmrest\n`,
};
const noResolver = { path: '/etc/resolv.conf', content: '' };

/** Of slurmctld and slurmrestd; a line of the plan replaces one of ours with the same key. */
export function slurmConf(plan: MiniSlurmPlan): string {
  const replaced = new Set(plan.configuration.map(keyOf).filter((key) => key !== 'PartitionName'));
  const lines = [
    'ClusterName=mini',
    `SlurmctldHost=slurmctl(${addresses.controller})`,
    'SlurmUser=slurm',
    'AuthType=auth/slurm',
    'CredType=auth/slurm',
    'AuthInfo=use_client_ids',
    'AuthAltTypes=auth/jwt',
    'AuthAltParameters=jwt_key=/etc/slurm/jwt_hs256.key',
    'SlurmctldParameters=enable_configless',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_Core_Memory',
    'MaxNodeCount=1024',
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'JobAcctGatherType=jobacct_gather/linux',
    'SlurmdParameters=config_overrides',
    'ReturnToService=2',
    'MpiDefault=none',
    'StateSaveLocation=/cluster/state',
    'SlurmdSpoolDir=/cluster/spool/%n',
    'SlurmctldPidFile=/run/slurmctld/slurmctld.pid',
    'SlurmdPidFile=/run/slurm/slurmd.pid',
    'SlurmctldTimeout=30',
    'SlurmdTimeout=30',
    'KillWait=2',
    'MinJobAge=300',
    'JobRequeue=1',
    'SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1',
    'PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP',
    ...(plan.accounting
      ? ['AccountingStorageType=accounting_storage/slurmdbd', `AccountingStorageHost=${addresses.accounting}`]
      : []),
    ...(plan.release === '26.05' ? ['MetricsType=metrics/openmetrics'] : []),
  ];
  const kept = lines.filter((line) => !replaced.has(keyOf(line)));
  return `${[...kept, ...plan.configuration].join('\n')}\n`;
}

const keyOf = (line: string): string => line.split('=', 1)[0] ?? '';

function configuration(plan: MiniSlurmPlan): Files {
  return [
    { path: '/etc/slurm', directory: true, ...slurm },
    { path: '/etc/slurm/slurm.conf', content: slurmConf(plan), ...slurm },
    { path: '/etc/slurm/cgroup.conf', content: 'CgroupPlugin=disabled\n', ...slurm },
  ];
}

const key = (plan: MiniSlurmPlan) => ({
  path: '/etc/slurm/slurm.key',
  content: plan.slurmKey,
  mode: 0o600,
  ...slurm,
});

export function controllerBox(plan: MiniSlurmPlan) {
  return {
    name: 'slurmctl',
    user: 'slurm',
    command: ['slurmctld', '-D'],
    files: [
      hosts,
      noResolver,
      ...configuration(plan),
      key(plan),
      { path: '/etc/slurm/jwt_hs256.key', content: plan.jwtKey, mode: 0o600, ...slurm },
      ...Object.entries(plan.scripts ?? {}).map(([path, content]) => ({
        path,
        content,
        mode: 0o550,
        ...slurm,
      })),
      { path: '/cluster/state', directory: true, ...slurm },
      { path: '/run/slurmctld', directory: true, ...slurm },
    ],
  } satisfies BoxOptions;
}

export function restBox(plan: MiniSlurmPlan) {
  const plugins = plan.release === '24.11' && !plan.accounting ? ['-s', 'slurmctld'] : [];
  return {
    name: 'slurmrest',
    user: 'slurmrestd',
    env: { SLURM_JWT: 'daemon' },
    command: ['slurmrestd', '-a', 'rest_auth/jwt', ...plugins, '0.0.0.0:6820'],
    files: [hosts, noResolver, ...configuration(plan)],
  } satisfies BoxOptions;
}

export function databaseBox(socketDirectory: string) {
  const sql = [
    'CREATE DATABASE IF NOT EXISTS slurm_acct_db;',
    "CREATE USER IF NOT EXISTS 'slurm'@'localhost' IDENTIFIED VIA unix_socket;",
    "GRANT ALL ON slurm_acct_db.* TO 'slurm'@'localhost';",
  ];
  return {
    name: 'mariadb',
    mounts: [{ source: socketDirectory, target: '/run/mysqld' }],
    files: [{ path: '/etc/mini-mysql.sql', content: `${sql.join('\n')}\n` }],
    command: [
      'mariadbd',
      '--no-defaults',
      '--user=mysql',
      '--datadir=/var/lib/mini-mysql',
      '--init-file=/etc/mini-mysql.sql',
      '--skip-networking',
      '--socket=/run/mysqld/mysqld.sock',
      '--innodb-buffer-pool-size=64M',
      '--innodb-log-file-size=4M',
      '--innodb-lock-wait-timeout=900',
      // slurmdbd 26.05 says that it ends itself with this on.
      '--loose-innodb-snapshot-isolation=OFF',
      // Nothing in here survives the test.
      '--innodb-flush-log-at-trx-commit=0',
      '--skip-innodb-doublewrite',
    ],
  } satisfies BoxOptions;
}

export function accountingBox(plan: MiniSlurmPlan, socketDirectory: string) {
  const lines = [
    'AuthType=auth/slurm',
    'AuthAltTypes=auth/jwt',
    'AuthAltParameters=jwt_key=/etc/slurm/jwt_hs256.key',
    'DbdHost=slurmdbd',
    `DbdAddr=${addresses.accounting}`,
    'SlurmUser=slurm',
    'PidFile=/run/slurmdbd/slurmdbd.pid',
    'StorageType=accounting_storage/mysql',
    'StorageHost=localhost',
    'StorageUser=slurm',
    'StorageLoc=slurm_acct_db',
  ];
  return {
    name: 'slurmdbd',
    user: 'slurm',
    command: ['slurmdbd', '-D'],
    mounts: [{ source: socketDirectory, target: '/run/mysqld' }],
    files: [
      hosts,
      noResolver,
      { path: '/etc/slurm', directory: true, ...slurm },
      { path: '/etc/slurm/slurmdbd.conf', content: `${lines.join('\n')}\n`, mode: 0o600, ...slurm },
      key(plan),
      { path: '/etc/slurm/jwt_hs256.key', content: plan.jwtKey, mode: 0o600, ...slurm },
      { path: '/run/slurmdbd', directory: true, ...slurm },
    ],
  } satisfies BoxOptions;
}

/** A worker: its only file is the key, the configuration comes from slurmctld. */
export function nodeBox(
  plan: MiniSlurmPlan,
  name: string,
  configurationOfNode: string,
  flags: readonly string[] = [],
) {
  return {
    name,
    command: [
      'slurmd',
      '-D',
      '-Z',
      '-b', // it shares the machine's boot time; without this Slurm never sees it reboot
      '-N',
      name,
      '--conf-server',
      `${addresses.controller}:6817`,
      '--conf',
      configurationOfNode,
      ...flags,
    ],
    files: [
      hosts,
      noResolver,
      { path: '/etc/slurm', directory: true, ...slurm },
      key(plan),
      { path: '/run/slurm', directory: true },
      { path: '/cluster/spool', directory: true },
    ],
  } satisfies BoxOptions;
}
