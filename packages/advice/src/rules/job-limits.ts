/** F (continued): jobs that wait for a limit. */
import { formatTimeLimit, type SlurmJob } from '@slurm-operator/slurm';
import { family } from '../finding.ts';
import { count, listed, shellWord } from '../text/text.ts';
import { gpus } from './job-demand.ts';
import { jobRule, update, waits } from './job-rule.ts';

const isRunning = (job: SlurmJob) => job.state.includes('RUNNING');

export const jobLimitRules = family('jobs', [
  jobRule({
    id: 'F7',
    title: 'The job asks for more than its partition allows',
    severity: 'error',
    needs: ['partitions'],
    matches: waits(/PartitionTimeLimit|PartitionNodeLimit/i),
    groupBy: (job) => `${job.partition} ${job.stateReason}`,
    explain(job, { partitions }) {
      const partition = partitions.find(({ name }) => name === job.partition);
      if (/Time/.test(job.stateReason)) {
        const wanted = job.timeLimit ?? 'infinite';
        const allowed = partition?.maxTime;
        return {
          says: `Its time limit is ${formatTimeLimit(wanted)}, partition ${job.partition} allows ${allowed === undefined ? 'less' : formatTimeLimit(allowed)}.`,
          fix: [update(job, `timelimit=${allowed === undefined ? '…' : formatTimeLimit(allowed)}`)],
        };
      }
      return {
        says: `It asks for ${count(job.nodeCount ?? 1, 'node')}, partition ${job.partition} allows ${partition?.maxNodes === undefined || partition.maxNodes === 'infinite' ? `${partition?.nodeCount ?? 'fewer'}` : Math.min(partition.maxNodes, partition.nodeCount)}.`,
        fix: ['Ask for fewer nodes, or use another partition.'],
      };
    },
  }),
  jobRule({
    id: 'F8',
    title: 'The partition is down, drained or inactive',
    severity: 'error',
    needs: ['partitions'],
    matches: waits(/PartitionDown|PartitionInactive|PartitionDrain/i),
    groupBy: (job) => job.partition,
    explain: (job, { partitions }) => ({
      says: `Partition ${job.partition} is ${partitions.find(({ name }) => name === job.partition)?.state.join('+') || 'not up'}.`,
      fix: [`kubectl slurm scontrol -- update partitionname=${shellWord(job.partition)} state=up`],
    }),
  }),
  jobRule({
    id: 'F9',
    title: 'A limit of the account is reached',
    severity: 'info',
    needs: [],
    matches: waits(/^Assoc/),
    explain: (job, { jobs }) => ({
      ...limited(job, jobs, 'account'),
      fix: ['Wait for jobs of the account to end, or ask its coordinator.'],
    }),
  }),
  jobRule({
    id: 'F10',
    title: 'A limit of the QOS is reached',
    severity: 'info',
    needs: [],
    matches: waits(/^QOS|^Max\w+Per(User|Account)/),
    explain: (job, { jobs }) => ({
      ...limited(job, jobs, 'qos'),
      fix: ['Wait for these jobs to end, or use another --qos.'],
    }),
  }),
  jobRule({
    id: 'F18',
    title: 'All licenses are in use',
    severity: 'info',
    needs: ['licenses'],
    matches: waits(/^Licenses$/),
    explain(job, { licenses }) {
      const wanted = job.licenses.split(',').map((one) => one.split(/[:@=]/)[0] ?? '');
      const mine = licenses.filter(({ name }) => wanted.includes(name.split('@')[0] ?? name));
      return {
        says: `It waits for licenses: ${listed(mine.map(({ name, used, total }) => `${name} ${used} of ${total} in use`)) || job.licenses}.`,
        fix: ['Wait for jobs with this license to end.'],
      };
    },
  }),
]);

/** Who uses the limit that a job waits for. */
function limited(job: SlurmJob, jobs: readonly SlurmJob[], by: 'account' | 'qos') {
  const mine = jobs.filter((other) => isRunning(other) && other[by] === job[by]);
  const wanted = gpus(job.tresRequested) || gpus(job.tresPerNode) * (job.nodeCount ?? 1);
  const use = (list: readonly SlurmJob[]) =>
    wanted > 0
      ? count(
          list.reduce((sum, each) => sum + gpus(each.tresAllocated || each.tresRequested), 0),
          'GPU',
        )
      : count(
          list.reduce((sum, each) => sum + (each.cpus ?? 0), 0),
          'CPU',
        );
  const users = [...Map.groupBy(mine, ({ user }) => user)].map(([user, list]) => `${user} ${use(list)}`);
  const name = by === 'account' ? `Account ${job.account || '(none)'}` : `QOS ${job.qos || '(none)'}`;
  return {
    says: `${name} is at a limit (${job.stateReason}): it uses ${use(mine)} in ${count(mine.length, 'running job')}; this job asks for ${wanted > 0 ? count(wanted, 'GPU') : count(job.cpus ?? 1, 'CPU')}.`,
    because: users.length === 0 ? [] : [`in use: ${listed(users, 5)}`],
  };
}
