/** slurm.conf of a Controller, from the Controller, its NodeSets and its Accounting. */
import { type Accounting, type Controller, type NodeSet, port, resourceName } from '@slurm-operator/api';
import { durationMilliseconds } from '@slurm-operator/kubernetes-values';
import type { Read } from '../../objects/read.ts';
import { servesHttp } from '../../objects/slurm-version.ts';
import { clusterNameOf, controllerReplicas, wantedSlurmctldPort } from '../../objects/slurmctld-endpoints.ts';
import { type ConfSection, type RenderedConf, renderConf } from '../conf-file.ts';
import { powerProgram } from '../guard/power-saving.ts';
import { type ConfRecord, field, remainder, type Setting, setting } from '../setting.ts';
import { slurmSetName } from './slurmd-conf.ts';
import { autoscaledPrefixes, waitForNodesFile } from './wait-for-nodes.ts';

export interface SlurmConfInput {
  readonly controller: Read<Controller>;
  readonly accounting: Read<Accounting> | undefined;
  readonly nodeSets: readonly Read<NodeSet>[];
  /** Worker pods of NodeSets that are being deleted: they may still have a node. @default 0 */
  readonly leavingWorkers?: number;
  readonly scripts: Scripts;
  /** The image of slurmctld, whose tag tells its version. */
  readonly image?: string | undefined;
}

/** Names of files in /etc/slurm. */
export interface Scripts {
  readonly prolog: readonly string[];
  readonly epilog: readonly string[];
  readonly prologSlurmctld: readonly string[];
  readonly epilogSlurmctld: readonly string[];
}

export const stateSaveLocation = (clusterName: string): string => `/var/spool/slurmctld/${clusterName}`;

/** Options that the cluster does not work without. */
const mandatory = ({ controller, nodeSets }: SlurmConfInput): Record<string, readonly string[]> => ({
  AuthInfo: ['use_client_ids'],
  AuthAltParameters: [
    'jwt_key=/etc/slurm/jwt.key',
    ...(controller.spec.jwksKeyRef === undefined ? [] : ['jwks=/etc/slurm/jwks.json']),
  ],
  SlurmctldParameters: [
    'enable_configless',
    // Slurm looks every 10 seconds by default for nodes to power up and down, and jobs and the operator wait for that.
    ...(nodeSets.some(({ spec }) => spec.autoscale !== undefined) ? ['power_save_interval=1'] : []),
    ...(controller.spec.maxAwake === undefined ? [] : [`max_powered_nodes=${controller.spec.maxAwake}`]),
  ],
  // A job that was waiting for its nodes has not run, so it can be requeued whatever its user said.
  ...(nodeSets.some(({ spec }) => spec.autoscale !== undefined)
    ? { SchedulerParameters: ['requeue_on_resume_failure'] }
    : {}),
  // pam_slurm_adopt knows a job by the step that only this makes: without it no user can log in.
  ...(nodeSets.some(({ spec }) => spec.ssh?.enabled) ? { PrologFlags: ['Contain'] } : {}),
});

const reserved = {
  ClusterName: 'set spec.clusterName, before the Controller is created',
  SlurmctldHost: 'the operator sets the address of slurmctld',
  SlurmctldPort: 'set spec.service.port',
  SlurmctldAddr: 'the operator sets the address of slurmctld',
  SlurmUser: 'the images run slurmctld as slurm',
  StateSaveLocation: 'set spec.persistence',
  SlurmdPort: 'the probes of workers use the port that their pods name, and would end them with their jobs',
};

const refusedOptions = {
  CommunicationParameters: {
    disable_http:
      'the liveness probes of slurmctld and slurmd need HTTP, and would end every worker with its jobs',
  },
};

export function buildSlurmConf(input: SlurmConfInput): RenderedConf {
  const { controller } = input;
  const merged = mandatory(input);
  return renderConf({
    sections: [
      general(input),
      {
        title: 'PLUGINS & PARAMETERS',
        settings: [
          ...authentication,
          ...Object.entries(merged).map(([key, options]) => setting(key, options.join(','))),
          // An older slurmctld does not know the key, and would not start.
          ...(controller.spec.metrics.enabled && servesHttp(input.image)
            ? [setting('MetricsType', 'metrics/openmetrics')]
            : []),
        ],
      },
      { title: 'ACCOUNTING', settings: accountingSettings(input.accounting) },
      ...powerSaving(input.nodeSets),
      scripts(input.scripts, autoscaledPrefixes(input.nodeSets).length > 0),
      { title: 'NODESETS & PARTITIONS', records: setRecords(input.nodeSets) },
    ],
    extra: controller.spec.extraConf,
    merged,
    reserved,
    refusedOptions,
  });
}

/** What slurmrestd and login nodes need to find a slurmctld that runs elsewhere. */
export function buildExternalSlurmConf(
  input: Pick<SlurmConfInput, 'controller' | 'accounting'>,
): RenderedConf {
  return renderConf({
    sections: [
      {
        title: 'GENERAL',
        settings: [
          setting('ClusterName', clusterNameOf(input.controller)),
          setting('SlurmUser', 'slurm'),
          ...hosts(input.controller),
          ...authentication,
          setting('AuthInfo', 'use_client_ids'),
        ],
      },
      { title: 'ACCOUNTING', settings: accountingSettings(input.accounting) },
    ],
  });
}

const authentication = [
  setting('AuthType', 'auth/slurm'),
  setting('CredType', 'cred/slurm'),
  setting('AuthAltTypes', 'auth/jwt'),
];

function general({ controller, nodeSets, leavingWorkers }: SlurmConfInput): ConfSection {
  const clusterName = clusterNameOf(controller);
  return {
    title: 'GENERAL',
    settings: [
      setting('ClusterName', clusterName),
      setting('SlurmUser', 'slurm'),
      ...hosts(controller),
      setting('SlurmctldPidFile', '/run/slurmctld/slurmctld.pid'),
      setting('StateSaveLocation', stateSaveLocation(clusterName)),
      setting('SlurmdUser', 'root'),
      setting('SlurmdPort', port.slurmd),
      setting('SlurmdSpoolDir', '/var/spool/slurmd'),
      // A worker that was unreachable for a while is welcome back as soon as it registers.
      setting('ReturnToService', 2),
      setting('MaxNodeCount', maxNodeCount(controller, nodeSets, leavingWorkers)),
    ],
  };
}

function hosts(controller: Read<Controller>): Setting[] {
  const { name, namespace } = controller.metadata;
  const { external, externalConfig } = controller.spec;
  const listen = setting('SlurmctldPort', wantedSlurmctldPort(controller));
  if (external) return [setting('SlurmctldHost', externalConfig?.host ?? ''), listen];
  // Each pod has a Service of its own name: that name stays while the pod is away, and Slurm does not wait for it.
  const replicas = Array.from({ length: controllerReplicas(controller) }, (_, ordinal) => {
    const pod = resourceName.controllerPod(name, ordinal);
    return setting('SlurmctldHost', `${pod}(${pod}.${namespace})`);
  });
  return [...replicas, listen];
}

/** Slurm's own limit. */
const mostNodes = 65_533;

/** Room for twice what is asked for, in steps, so that scaling seldom changes the file. */
export function maxNodeCount(
  controller: Read<Controller>,
  sets: readonly Read<NodeSet>[],
  leavingWorkers = 0,
): number {
  if (controller.spec.maxNodeCount !== undefined) return controller.spec.maxNodeCount;
  const wanted = sets.reduce(
    (sum, { spec, status }) =>
      sum +
      (spec.scalingMode === 'DaemonSet'
        ? (status?.desired ?? 0)
        : Math.max(spec.replicas, spec.autoscale?.max ?? 0)),
    leavingWorkers,
  );
  let room = 1024;
  while (room < 2 * wanted && room < mostNodes) room *= 2;
  return Math.min(room, mostNodes);
}

/** Slurm's own timer would take idle workers whose time has not come: the operator has one for each NodeSet. */
const tenYears = 315_360_000;
/** As long as a slurmd that ends may take: what registers from it is ignored. The operator ends this early when the pod is gone. */
const suspendTimeout = 600;

/**
 * Slurm wakes and stops autoscaled nodes, and the operator follows their state in the list of nodes: the programs do nothing. A
 * SuspendTime of -1 would switch waking off as well.
 */
function powerSaving(sets: readonly Read<NodeSet>[]): ConfSection[] {
  const autoscaled = sets.flatMap(({ spec }) =>
    spec.scalingMode === 'DaemonSet' ? [] : (spec.autoscale ?? []),
  );
  if (autoscaled.length === 0) return [];
  const longest = Math.max(...autoscaled.map(({ startWithin }) => durationMilliseconds(startWithin) ?? 0));
  return [
    {
      title: 'POWER SAVING',
      settings: [
        setting('ResumeProgram', powerProgram),
        setting('SuspendProgram', powerProgram),
        setting('ResumeTimeout', Math.ceil(longest / 1000) + 60),
        setting('SuspendTimeout', suspendTimeout),
        setting('SuspendTime', tenYears),
        setting('ResumeRate', 0),
        setting('SuspendRate', 0),
      ],
    },
  ];
}

function accountingSettings(accounting: Read<Accounting> | undefined): Setting[] {
  if (accounting === undefined) return [setting('AccountingStorageType', 'accounting_storage/none')];
  const { external, externalConfig, service } = accounting.spec;
  const { name, namespace } = accounting.metadata;
  const host = external ? (externalConfig?.host ?? '') : `${resourceName.accounting(name)}.${namespace}`;
  return [
    setting('AccountingStorageType', 'accounting_storage/slurmdbd'),
    setting('AccountingStorageHost', host),
    setting('AccountingStoragePort', (external ? externalConfig?.port : service?.port) || port.slurmdbd),
  ];
}

function scripts(
  { prolog, epilog, prologSlurmctld, epilogSlurmctld }: Scripts,
  autoscales: boolean,
): ConfSection {
  const all = (key: string, files: readonly string[], directory = '') =>
    files.toSorted().map((file) => setting(key, `${directory}${file}`));
  return {
    title: 'PROLOG & EPILOG',
    settings: [
      // Scripts beside slurmctld are named by path; those on workers by file name, because Slurm sends the files along.
      ...all('PrologSlurmctld', prologSlurmctld, '/etc/slurm/'),
      ...(autoscales ? [setting('PrologSlurmctld', `/etc/slurm/${waitForNodesFile}`)] : []),
      ...all('EpilogSlurmctld', epilogSlurmctld, '/etc/slurm/'),
      ...all('Prolog', prolog),
      ...all('Epilog', epilog),
    ],
  };
}

/** Every NodeSet is a set of Slurm's, by the feature that its workers have; and a partition, if it wants to be one. */
function setRecords(sets: readonly Read<NodeSet>[]): ConfRecord[] {
  return sets
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((set) => {
      const name = slurmSetName(set);
      const { enabled, config } = set.spec.partition;
      return [
        { fields: [field('NodeSet', name), field('Feature', name)] },
        ...(enabled
          ? [
              {
                fields: [field('PartitionName', name), field('Nodes', name)],
                rest: config === undefined ? undefined : remainder(`partition of ${name}`, config),
              },
            ]
          : []),
      ];
    });
}
