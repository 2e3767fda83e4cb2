/** What the operator knows of every Slurm, for Prometheus: from views that are in memory, on every release of Slurm. */
import { type ObjectKey, refOf, type Sample, SampledMetric } from '@slurm-operator/kube';
import type { SlurmDiag } from '@slurm-operator/slurm';
import { Histogram, type Registry } from 'prom-client';
import type { ConnectionPool } from '../slurm-connection/pool.ts';
import { ClusterFigures, type FiguresSource } from './cluster-figures.ts';
import { type ClusterLabels, drainedSamples, outOfServiceSamples, stateSamples } from './node-figures.ts';

const clusterLabels = ['namespace', 'cluster'] as const;

/** From a second to a week. */
const waitBuckets = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600];

/** slurmctld knows about 40 types of messages that clients send; the types after these are counted as one. */
const mostRpcTypes = 100;

const jobEvents = ['submitted', 'started', 'completed', 'canceled', 'failed'] as const;

export function exposeSlurm(
  pool: Pick<ConnectionPool, 'attach'>,
  registry: Registry,
  now: () => number,
): void {
  const all = new Map<ObjectKey, ClusterFigures>();
  const waits = new Histogram({
    name: 'slurm_operator_job_wait_seconds',
    help: 'Time from the moment at which a job could start until it started',
    labelNames: [...clusterLabels, 'partition'],
    buckets: waitBuckets,
    registers: [registry],
  });
  pool.attach((key: ObjectKey, source: FiguresSource) => {
    const { namespace = '', name } = refOf(key);
    const figures = new ClusterFigures(source, {
      labels: { namespace, cluster: name },
      now,
      onStart: (labels, { partition, seconds }) => waits.observe({ ...labels, partition }, seconds),
      onClose: () => all.get(key) === figures && all.delete(key),
    });
    all.set(key, figures);
    return figures;
  });

  const family = (
    name: string,
    help: string,
    labels: readonly string[],
    sampleOf: (figures: ClusterFigures) => Sample[],
    type: 'gauge' | 'counter' = 'gauge',
  ) =>
    SampledMetric.register(registry, {
      name,
      help,
      type,
      labelNames: [...clusterLabels, ...labels],
      sample: () => [...all.values()].flatMap(sampleOf),
    });

  exposeNodes(family, now);
  exposeJobs(family, now);
  exposeController(family);
}

type Family = (
  name: string,
  help: string,
  labels: readonly string[],
  sampleOf: (figures: ClusterFigures) => Sample[],
  type?: 'gauge' | 'counter',
) => void;

const one = ({ namespace, cluster }: ClusterLabels, value: number): Sample[] => [
  { labels: { namespace, cluster }, value },
];

function exposeNodes(family: Family, now: () => number): void {
  family(
    'slurm_operator_slurm_known',
    '1 if the nodes of Slurm are known, 0 while they are not',
    [],
    (figures) => one(figures.labels, figures.nodes() === undefined ? 0 : 1),
  );
  family('slurm_operator_slurm_list_age_seconds', 'Age of the last list of nodes', [], (figures) => {
    const nodes = figures.nodes();
    return nodes === undefined ? [] : one(figures.labels, Math.max(0, now() - nodes.at) / 1000);
  });
  family(
    'slurm_operator_node_state',
    'State of a Slurm node: one series per node, with the value 1',
    ['nodeset', 'node', 'state'],
    (figures) => stateSamples(figures.labels, figures.nodes()?.nodes ?? []),
  );
  family(
    'slurm_operator_node_out_of_service_seconds',
    'Time since a Slurm node that is drained, draining or down got its reason',
    ['nodeset', 'node', 'state', 'class'],
    (figures) => outOfServiceSamples(figures.labels, figures.nodes()?.nodes ?? [], now()),
  );
  family(
    'slurm_operator_nodes_drained',
    'Slurm nodes that are drained or draining, by what drained them',
    ['class'],
    (figures) => {
      const nodes = figures.nodes();
      return nodes === undefined ? [] : drainedSamples(figures.labels, nodes.nodes);
    },
  );
}

function exposeJobs(family: Family, now: () => number): void {
  const perPartition = (labels: ClusterLabels, partition: string) => ({
    namespace: labels.namespace,
    cluster: labels.cluster,
    partition,
  });
  family(
    'slurm_operator_jobs_pending',
    'Jobs that wait, by partition and reason; an array counts as one job',
    ['partition', 'why'],
    (figures) =>
      [...(figures.pending()?.counts ?? [])].flatMap(([partition, reasons]) =>
        [...reasons].map(([why, value]) => ({
          labels: { ...perPartition(figures.labels, partition), why },
          value,
        })),
      ),
  );
  family(
    'slurm_operator_jobs_pending_oldest_seconds',
    'How long the job has waited that waits longest for resources, priority, licenses or nodes',
    ['partition'],
    (figures) =>
      [...(figures.pending()?.oldest ?? [])].map(([partition, since]) => ({
        labels: perPartition(figures.labels, partition),
        value: Math.max(0, now() - since) / 1000,
      })),
  );
  family(
    'slurm_operator_jobs_pending_age_seconds',
    'Age of the list that the reasons of pending jobs are from',
    [],
    (figures) => {
      const pending = figures.pending();
      return pending === undefined ? [] : one(figures.labels, Math.max(0, now() - pending.at) / 1000);
    },
  );
  family(
    'slurm_operator_job_gpu',
    '1 for each GPU that a running job has; join by node and gpu',
    ['node', 'gpu', 'job_id', 'user', 'account', 'partition'],
    (figures) => figures.gpus().samples,
  );
  family(
    'slurm_operator_job_gpu_omitted',
    'GPUs in use that have no series, because there would be too many',
    [],
    (figures) => one(figures.labels, figures.gpus().omitted),
  );
}

function exposeController(family: Family): void {
  const gauge = (name: string, help: string, valueOf: (diag: SlurmDiag) => number) =>
    family(name, help, [], (figures) => {
      const diag = figures.diag();
      return diag === undefined ? [] : one(figures.labels, valueOf(diag));
    });
  gauge(
    'slurm_operator_slurmctld_threads',
    'Threads of slurmctld that serve requests',
    (diag) => diag.serverThreads,
  );
  gauge(
    'slurm_operator_slurmctld_agent_queue',
    'Messages that slurmctld has to send to nodes',
    (diag) => diag.agentQueue,
  );
  gauge(
    'slurm_operator_slurmctld_database_queue',
    'Messages that slurmctld has to send to slurmdbd',
    (diag) => diag.databaseQueue,
  );
  gauge(
    'slurm_operator_slurmctld_schedule_seconds',
    'Time of the last cycle of the main scheduler',
    (diag) => diag.scheduleCycleLast / 1e6,
  );
  gauge(
    'slurm_operator_slurmctld_backfill_seconds',
    'Time of the last cycle of the backfill scheduler',
    (diag) => diag.backfillCycleLast / 1e6,
  );
  family(
    'slurm_operator_slurmctld_jobs_total',
    'Jobs since the statistics of slurmctld began: its start, a reconfigure, or midnight',
    ['event'],
    (figures) => {
      const jobs = figures.diag()?.jobs;
      const { namespace, cluster } = figures.labels;
      if (jobs === undefined) return [];
      return jobEvents.map((event) => ({ labels: { namespace, cluster, event }, value: jobs[event] }));
    },
    'counter',
  );
  const rpcs = (name: string, help: string, valueOf: (rpc: SlurmDiag['rpcs'][number]) => number) =>
    family(
      name,
      help,
      ['rpc'],
      (figures) => rpcSamples(figures.labels, figures.diag()?.rpcs ?? [], valueOf),
      'counter',
    );
  rpcs('slurm_operator_slurmctld_rpcs_total', 'Messages that slurmctld got, by type', ({ count }) => count);
  rpcs(
    'slurm_operator_slurmctld_rpc_seconds_total',
    'Time that slurmctld spent on messages, by type',
    ({ totalTime }) => totalTime / 1e6,
  );
}

/** The types after the first hundred are one series, so that no release of Slurm can make their number grow. */
export function rpcSamples(
  { namespace, cluster }: ClusterLabels,
  rpcs: SlurmDiag['rpcs'],
  valueOf: (rpc: SlurmDiag['rpcs'][number]) => number,
): Sample[] {
  const shown = rpcs.toSorted((a, b) => (a.type < b.type ? -1 : 1));
  const rest = shown.splice(mostRpcTypes);
  const samples = shown.map((rpc) => ({
    labels: { namespace, cluster, rpc: rpc.type },
    value: valueOf(rpc),
  }));
  if (rest.length === 0) return samples;
  const value = rest.reduce((sum, rpc) => sum + valueOf(rpc), 0);
  return [...samples, { labels: { namespace, cluster, rpc: 'other' }, value }];
}
