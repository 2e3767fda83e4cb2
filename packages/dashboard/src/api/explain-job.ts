/** Why a job does not run, by the rules of `kubectl slurm doctor`, over what this user may see. */
import { diagnose, type Finding, known, unknown } from '@slurm-operator/advice';
import { jobKey, type SlurmJob } from '@slurm-operator/slurm';
import type { ClusterView } from './cluster-view.ts';

/** A list with all fields costs 8 KB a job, so larger clusters are explained from the job itself and the nodes. */
const mostListed = 2_000;
const keepMs = 10_000;

export interface Explanation {
  readonly findings: readonly Pick<Finding, 'rule' | 'severity' | 'says' | 'because' | 'fix'>[];
  /** What was not looked at, as sentences. */
  readonly unchecked: readonly string[];
}

export async function explainJob(
  view: ClusterView,
  job: SlurmJob,
  seesAll: boolean,
  now: number,
): Promise<Explanation> {
  if (!job.state.includes('PENDING')) return { findings: [], unchecked: [] };
  const { shared, slurmNodes, jobs: rows } = view.feed;
  const listsAll = seesAll && rows.rows.size <= mostListed;
  const [jobs, partitions] = await Promise.all([
    listsAll ? shared.read('all jobs', keepMs, (signal) => view.reader.jobs.list({ signal })) : undefined,
    shared.read('partitions', keepMs, (signal) => view.reader.partitions.list({ signal })),
  ]);
  const others = (jobs?.items ?? []).filter((each) => jobKey(each) !== jobKey(job));
  const { findings } = diagnose(
    {
      jobs: known([...others, job], now),
      partitions: known(partitions.items, now),
      slurmNodes:
        slurmNodes.kind === 'known'
          ? known([...slurmNodes.nodes.values()], slurmNodes.at)
          : unknown(slurmNodes.why.message),
    },
    { now, namespace: view.ref.namespace, cluster: view.ref.name, job: job.id, timeZone: 'UTC' },
  );
  const concerns = ({ subject, related = [] }: Finding) =>
    [subject.name, ...related].includes(String(job.id));
  return {
    findings: findings
      .filter(concerns)
      .map(({ rule, severity, says, because, fix }) => ({ rule, severity, says, because, fix })),
    unchecked: listsAll ? [] : ['The other jobs of the cluster: they may have what this one waits for.'],
  };
}
