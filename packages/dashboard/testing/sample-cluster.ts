/** A cluster as people have it, for pages that are looked at: blocks of GPU nodes, jobs of several users, a rollout, a drained node. */
import type { Cluster, Controller, NodeSet } from '@slurm-operator/api';
import type { Event, Live } from '@slurm-operator/kube';
import type { Simulator } from '@slurm-operator/slurm/testing';
import type { ClusterObjects, ClusterView } from '../src/api/cluster-view.ts';

const users = ['alice', 'bob', 'carol', 'dave'];
const names = ['train-llama', 'md-npt', 'preprocess', 'sweep', 'eval-suite', 'render', 'blast'];

export function populate({ cluster }: Simulator): void {
  for (let block = 0; block < 4; block += 1)
    for (let place = 0; place < 16; place += 1) {
      const name = `gpu-${block * 16 + place}`;
      cluster.addNode(name, { cpus: 64, memory: 512_000, gres: 'gpu:8', features: ['gpu', 'h100'] });
      const node = cluster.node(name);
      node.topology = `topo-block:b0${block + 1}`;
      cluster.touch(node);
    }
  cluster.addNodes('cpu-[0-31]', { cpus: 128, memory: 256_000, features: ['cpu'] });
  for (let job = 0; job < 34; job += 1)
    cluster.runJob([`gpu-${job}`], {
      name: names[job % names.length] ?? '',
      user: users[job % users.length] ?? '',
      cpusPerNode: job % 3 === 0 ? 64 : 32,
      timeLimit: 60 * (2 + (job % 20)),
      durationMs: 86_400_000,
    });
  for (let job = 0; job < 14; job += 1)
    cluster.runJob([`cpu-${job}`], {
      name: names[(job * 3) % names.length] ?? '',
      user: users[(job + 1) % users.length] ?? '',
      cpusPerNode: 128,
      timeLimit: 240,
      durationMs: 86_400_000,
    });
  for (let job = 0; job < 40; job += 1)
    cluster.createJob({
      name: names[(job * 5) % names.length] ?? '',
      user: users[(job * 7) % users.length] ?? '',
      held: true,
      reason: ['Priority', 'Resources', 'Dependency', 'JobHeldUser', 'QOSMaxJobsPerUserLimit'][job % 5] ?? '',
      wantedNodes: 1 + (job % 8),
      timeLimit: 60 * (1 + (job % 12)),
    });
  const set = (
    name: string,
    change: Partial<ReturnType<typeof cluster.node>>,
    flags: readonly string[] = [],
  ) => {
    const node = cluster.node(name);
    Object.assign(node, change);
    for (const flag of flags) node.flags.add(flag);
    cluster.touch(node);
  };
  const drained = { reasonSetBy: 'bob', reasonSetAt: Date.now() - 7_200_000 };
  set('gpu-31', { reason: 'new disk (bob)', ...drained }, ['DRAIN']);
  set('gpu-60', { reason: 'fan 3 (bob)', ...drained }, ['DRAIN']);
  set('cpu-30', { reason: 'Not responding', down: true });
}

/** A rollout that waits for two jobs. */
export const samplePlan: ClusterView['planRollout'] = async (nodeSet) =>
  nodeSet === 'gpu'
    ? {
        create: 0,
        replace: 26,
        remove: 0,
        earliestAt: Date.now() + 1_500_000,
        latestAt: Date.now() + 33_000_000,
        withheld: [],
        lowestAvailable: 60,
        lastJob: { id: '20', user: 'dave', nodes: ['gpu-19'] },
        endless: [],
      }
    : undefined;

export const sampleTemplates: ClusterView['jobTemplates'] = async () => [
  {
    name: 'mpi',
    description: 'Two nodes with MPI',
    script: '#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=8 --time=01:00:00\nsrun ./program\n',
  },
];

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const metadata = (name: string) => ({
  name,
  namespace: 'slurm',
  uid: `${name}-uid`,
  resourceVersion: '1',
  generation: 4,
  creationTimestamp: ago(60 * 24 * 40),
});
const condition = (type: string, status: string, reason: string, message: string, minutes: number) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: ago(minutes),
  observedGeneration: 4,
});

/** Objects of Kubernetes beside it. Only what the pages read. */
export function sampleObjects(): ClusterObjects {
  const apiVersion = 'slinky.slurm.net/v1beta1';
  const nodeSet = (name: string, replicas: number, updated: number, paused: boolean) => ({
    apiVersion,
    kind: 'NodeSet',
    metadata: metadata(name),
    spec: {
      controllerRef: { name: 'slurm' },
      replicas,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 4, paused } },
    },
    status: {
      replicas,
      desired: replicas,
      readyReplicas: updated === replicas ? replicas : replicas - 3,
      availableReplicas: updated === replicas ? replicas : replicas - 3,
      updatedReplicas: updated,
      observedGeneration: 4,
      updateRevision: `${name}-7f9c`,
      currentRevision: `${name}-2b11`,
      conditions: [
        updated === replicas
          ? condition(
              'Progressing',
              'False',
              'Complete',
              `All ${replicas} workers have the newest revision.`,
              600,
            )
          : condition(
              'Progressing',
              'True',
              'RollingOut',
              `${updated} of ${replicas} workers have the new revision; 3 drain, the last job on them ends at 18:40 at the latest.`,
              42,
            ),
        condition('Ready', 'True', 'Ready', 'All workers are ready.', 600),
      ],
    },
  });
  const event = (
    name: string,
    kind: string,
    type: string,
    reason: string,
    note: string,
    minutes: number,
  ) => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { ...metadata(`${name}.${minutes}`), creationTimestamp: ago(minutes) },
    eventTime: ago(minutes),
    regarding: { kind, name, namespace: 'slurm' },
    type,
    reason,
    note,
  });
  return {
    cluster: {
      apiVersion,
      kind: 'Cluster',
      metadata: metadata('slurm'),
      spec: { controllerRef: { name: 'slurm' } },
      status: {
        observedGeneration: 4,
        conditions: [condition('Ready', 'True', 'Connected', 'Slurm 26.05.4 answers.', 900)],
      },
    } as unknown as Live<Cluster>,
    controller: {
      apiVersion,
      kind: 'Controller',
      metadata: metadata('slurm'),
      spec: {
        accountingRef: { name: 'slurm' },
        extraConf: 'SchedulerParameters=bf_interval=10\nMaxJobCount=100000\n',
      },
      status: {
        observedGeneration: 4,
        conditions: [
          condition('Ready', 'True', 'Ready', 'slurmctld answers.', 900),
          condition(
            'ConfigApplied',
            'False',
            'ConfigRejected',
            'slurmctld rejects it: error: cannot find scheduler plugin sched/backfil. The one before stays in force.',
            12,
          ),
        ],
      },
    } as unknown as Live<Controller>,
    nodeSets: [
      nodeSet('gpu', 64, 38, false),
      nodeSet('cpu', 32, 32, false),
    ] as unknown as readonly Live<NodeSet>[],
    pods: [],
    events: [
      event('gpu', 'NodeSet', 'Normal', 'Replaced', 'Replaced worker gpu-12: revision 2b11 to 7f9c.', 3),
      event('gpu', 'NodeSet', 'Warning', 'DrainedByOthers', 'gpu-31 is drained by bob: new disk.', 120),
      event('gpu-31', 'Pod', 'Warning', 'Unhealthy', 'Readiness probe failed: slurmd drains.', 118),
      event('slurm', 'Controller', 'Normal', 'ConfigApplied', 'slurm.conf is in force.', 180),
    ] as unknown as readonly Live<Event>[],
  };
}
