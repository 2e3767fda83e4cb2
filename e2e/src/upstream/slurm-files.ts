/** slurm.conf and slurmdbd.conf as upstream's operator writes them. */
import { smallMachineLines } from '@slurm-operator/demo/install';
import { elsewhereOf, type UserClass, workerStem } from './user-class.ts';

/** What the users wrote into `extraConf`. */
export const extraConf = [
  ...smallMachineLines,
  'TaskPlugin=task/none',
  'SlurmctldTimeout=20',
  'PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED',
].join('\n');

const lines = (...parts: readonly (string | readonly string[])[]): string => `${parts.flat().join('\n')}\n`;

const authentication = [
  'AuthType=auth/slurm',
  'CredType=cred/slurm',
  'AuthAltTypes=auth/jwt',
  'AuthAltParameters=jwt_key=/etc/slurm/jwt.key',
  'AuthInfo=use_client_ids',
];

export const clusterNameOf = (user: UserClass): string => `${user.name}_slurm`;

function accounting(user: UserClass): string[] {
  if (user.slurmdbd === 'none') return ['AccountingStorageType=accounting_storage/none'];
  const host = user.slurmdbd === 'here' ? 'slurm-accounting' : `slurmdbd.${elsewhereOf(user)}`;
  return [
    'AccountingStorageType=accounting_storage/slurmdbd',
    `AccountingStorageHost=${host}`,
    'AccountingStoragePort=6819',
  ];
}

function controllers(user: UserClass): string[] {
  const pods = user.slurmctld === 'two' ? [0, 1] : [0];
  return [
    ...pods.map(
      (index) =>
        `SlurmctldHost=slurm-controller-${index}(slurm-controller-${index}.slurm-controller-internal.${user.name})`,
    ),
    'SlurmctldPort=6817',
    `SlurmctldAddr=slurm-controller.${user.name}`,
  ];
}

const partition = [
  `NodeSet=${workerStem} Feature=${workerStem}`,
  `PartitionName=${workerStem} Nodes=${workerStem} State=UP MaxTime=UNLIMITED`,
];

/** Of a slurmctld in the cluster. */
export const slurmConf = (user: UserClass, users: string): string =>
  lines(
    '#\n### GENERAL ###',
    `ClusterName=${clusterNameOf(user)}`,
    'SlurmUser=slurm',
    controllers(user),
    `StateSaveLocation=/var/spool/slurmctld/${clusterNameOf(user)}`,
    ['SlurmdUser=root', 'SlurmdPort=6818', 'SlurmdSpoolDir=/var/spool/slurmd', 'MaxNodeCount=1024'],
    '#\n### LOGGING ###',
    ['SlurmctldLogFile=/var/log/slurm/slurmctld.log', 'SlurmSchedLogFile=/var/log/slurm/slurmctld.log'],
    'SlurmdLogFile=/var/log/slurm/slurmd.log',
    '#\n### PLUGINS & PARAMETERS ###',
    authentication,
    'SlurmctldParameters=enable_configless,reconfig_on_restart',
    '#\n### ACCOUNTING ###',
    accounting(user),
    '#\n### NODESET & PARTITION ###',
    partition,
    '#\n### EXTRA CONFIG ###',
    users,
  );

/** What slurmrestd needs where slurmctld is elsewhere. */
export const externalSlurmConf = (user: UserClass): string =>
  lines(
    `ClusterName=${clusterNameOf(user)}`,
    'SlurmUser=slurm',
    `SlurmctldHost=slurmctld.${elsewhereOf(user)}`,
    'SlurmctldPort=6817',
    ['AuthType=auth/slurm', 'CredType=cred/slurm', 'AuthAltTypes=auth/jwt'],
    accounting(user),
  );

/** Of a slurmctld that the users run. */
export const siteSlurmConf = (user: UserClass): string =>
  lines(
    `ClusterName=${clusterNameOf(user)}`,
    'SlurmUser=slurm',
    `SlurmctldHost=slurmctld(slurmctld.${elsewhereOf(user)})`,
    ['StateSaveLocation=/var/spool/slurmctld', 'SlurmdSpoolDir=/var/spool/slurmd', 'MaxNodeCount=64'],
    authentication,
    'SlurmctldParameters=enable_configless',
    partition,
    extraConf,
  );

export const slurmdbdConf = (host: string, database: string, password: string): string =>
  lines(
    [`DbdHost=${host}`, 'DbdPort=6819', 'SlurmUser=slurm'],
    authentication.filter((line) => !line.startsWith('CredType')),
    [
      'StorageType=accounting_storage/mysql',
      `StorageHost=${database}`,
      'StoragePort=3306',
      'StorageUser=slurm',
    ],
    ['StorageLoc=slurm_acct_db', `StoragePass=${password}`, 'LogFile=/dev/null'],
  );
