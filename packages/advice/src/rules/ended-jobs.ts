/** F (continued): jobs that run without progress, and jobs that ended badly. */
import { expandHostlist, isNotResponding } from '@slurm-operator/slurm';
import { family, rule } from '../finding.ts';
import { count, hosts, listed, moment, span } from '../text/text.ts';
import { isPending, jobRule } from './job-rule.ts';

export const endedJobRules = family('jobs', [
  rule({
    id: 'F21',
    title: 'No partition is the default',
    severity: 'warning',
    needs: ['partitions'],
    *find({ partitions }) {
      if (partitions.length === 0 || partitions.some(({ isDefault }) => isDefault)) return;
      yield {
        subject: { kind: 'Partition', name: listed(partitions.map(({ name }) => name)) },
        says: 'No partition is the default: Slurm refuses jobs that name none.',
        fix: ['Add Default=YES to one: spec.partition.config of the NodeSet.'],
        doc: 'faq.md',
      };
    },
  }),
  jobRule({
    id: 'F22',
    title: 'A running job is on a node that does not respond',
    severity: 'error',
    needs: ['slurmNodes'],
    matches: (job) => job.state.includes('RUNNING'),
    groupBy: (job) => job.nodes,
    explain(job, { slurmNodes }) {
      const mine = new Set(expandHostlist(job.nodes));
      const silent = slurmNodes.filter(({ name, state }) => mine.has(name) && isNotResponding(state));
      if (silent.length === 0) return undefined;
      return {
        says: `It runs on ${hosts(silent.map(({ name }) => name))}, which does not respond.`,
        fix: ['If the node is gone, Slurm requeues the job after SlurmdTimeout.'],
        related: silent.map(({ name }) => name),
      };
    },
  }),
  jobRule({
    id: 'F23',
    title: 'The job ended badly',
    severity: 'info',
    needs: [],
    matches: (job) =>
      ['FAILED', 'OUT_OF_MEMORY', 'TIMEOUT', 'NODE_FAIL', 'BOOT_FAIL', 'DEADLINE'].some((one) =>
        job.state.includes(one),
      ),
    explain: (job, _, context) => ({
      severity: 'warning',
      says: job.state.includes('OUT_OF_MEMORY')
        ? `It used more memory than it asked for${job.memoryPerNode === undefined ? '' : ` (${job.memoryPerNode} MB per node)`} on ${job.nodes}.`
        : job.state.includes('TIMEOUT')
          ? `It reached its time limit on ${job.nodes}.`
          : job.state.includes('NODE_FAIL')
            ? `Its node ${job.nodes} failed.`
            : `It ended with exit code ${job.exitCode ?? 'unknown'}${job.exitSignal === undefined || job.exitSignal === 0 ? '' : `, signal ${job.exitSignal}`}.`,
      because: job.endedAt === undefined ? [] : [`it ended at ${moment(job.endedAt, context)}`],
      fix: [
        job.state.includes('OUT_OF_MEMORY')
          ? 'Ask for more memory: --mem'
          : job.state.includes('TIMEOUT')
            ? 'Ask for more time: --time'
            : `kubectl slurm logs --job ${job.id}`,
      ],
      related: job.nodes === '' ? [] : expandHostlist(job.nodes),
    }),
  }),
  rule({
    id: 'F24',
    title: 'The job is no longer known to slurmctld',
    severity: 'info',
    needs: ['jobs', 'endedJob'],
    *find({ jobs, endedJob }, context) {
      if (context.job === undefined || jobs.some(({ id }) => id === context.job)) return;
      if (endedJob === undefined) return;
      yield {
        subject: { kind: 'Job', name: String(endedJob.id) },
        says: `It ended as ${endedJob.state.join('+')}${endedJob.endedAt === undefined ? '' : ` at ${moment(endedJob.endedAt, context)}`}${endedJob.elapsedSeconds === undefined ? '' : ` after ${span(endedJob.elapsedSeconds * 1000)}`}${endedJob.nodes === '' ? '' : ` on ${endedJob.nodes}`}.`,
        because: endedJob.exitCode === undefined ? [] : [`exit code ${endedJob.exitCode}`],
        fix: [`kubectl slurm job ${endedJob.id}`],
      };
    },
  }),
  rule({
    id: 'F25',
    title: 'Many jobs wait while nodes take no jobs',
    severity: 'warning',
    needs: ['jobs', 'slurmNodes'],
    *find({ jobs, slurmNodes }, { cluster, job }) {
      if (job !== undefined || slurmNodes.length === 0) return;
      const waiting = jobs.filter(isPending);
      const usable = slurmNodes.filter(
        ({ state }) => !state.flags.has('DRAIN') && state.base !== 'DOWN' && !isNotResponding(state),
      );
      if (waiting.length === 0 || usable.length > 0) return;
      yield {
        subject: { kind: 'Cluster', name: cluster },
        says: `${count(waiting.length, 'job')} ${waiting.length === 1 ? 'waits' : 'wait'}, and none of the ${count(slurmNodes.length, 'node')} takes jobs.`,
        fix: ['kubectl slurm nodes --why'],
        after: [{ rule: 'D8' }, { rule: 'E2' }, { rule: 'B1' }],
      };
    },
  }),
]);
