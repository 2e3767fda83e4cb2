/** The form of a rule about jobs: for one job it explains; for a whole cluster it reports groups of jobs that need attention. */
import type { SlurmJob } from '@slurm-operator/slurm';
import type { Context, EvidenceName, Values } from '../evidence/values.ts';
import { type FindingDraft, type Rule, rule, type Severity } from '../finding.ts';
import { count, listed } from '../text/text.ts';

export interface JobExplanation {
  readonly says: string;
  readonly because?: readonly string[];
  readonly fix: readonly string[];
  readonly related?: readonly string[];
  readonly severity?: Severity;
}

/** Jobs that have not started. A requeued job is PENDING too. */
export const isPending = (job: SlurmJob): boolean => job.state.includes('PENDING');

export const hasReason = (job: SlurmJob, pattern: RegExp): boolean =>
  pattern.test(job.stateReason) || pattern.test(job.stateDescription);

export const waits =
  (pattern: RegExp) =>
  (job: SlurmJob): boolean =>
    isPending(job) && hasReason(job, pattern);

/** The command that changes a job. */
export const update = (job: SlurmJob, what: string): string =>
  `kubectl slurm scontrol -- update jobid=${job.id} ${what}`;

export function jobRule<const Names extends readonly EvidenceName[]>(definition: {
  readonly id: string;
  readonly title: string;
  /** `info`: waiting is normal, so a diagnosis of the whole cluster does not mention it. */
  readonly severity: Severity;
  readonly needs: Names;
  readonly matches: (job: SlurmJob, values: Pick<Values, Names[number] | 'jobs'>) => boolean;
  readonly explain: (
    job: SlurmJob,
    values: Pick<Values, Names[number] | 'jobs'>,
    context: Context,
  ) => JobExplanation | undefined;
  /** Jobs with the same key are one finding. @default all of them */
  readonly groupBy?: (job: SlurmJob) => string;
}): Omit<Rule, 'family'> {
  const { id, title, severity, matches, explain, groupBy = () => '' } = definition;
  return rule({
    id,
    title,
    severity,
    needs: ['jobs', ...definition.needs],
    *find(given, context): Iterable<FindingDraft> {
      const values = given as Pick<Values, Names[number] | 'jobs'>;
      if (context.job !== undefined) {
        const mine = values.jobs.find((job) => job.id === context.job);
        if (mine === undefined || !matches(mine, values)) return;
        const explanation = explain(mine, values, context);
        if (explanation !== undefined)
          yield { subject: { kind: 'Job', name: String(mine.id) }, ...explanation };
        return;
      }
      if (severity === 'info') return;
      const concerned = values.jobs.filter((job) => matches(job, values));
      for (const [, group] of Map.groupBy(concerned, groupBy)) {
        const [first, ...others] = group;
        const explanation = first === undefined ? undefined : explain(first, values, context);
        if (first === undefined || explanation === undefined) continue;
        const more =
          others.length === 0
            ? ''
            : ` The same holds for ${count(others.length, 'other job')} (${listed(others.map((job) => String(job.id)))}).`;
        yield {
          subject: { kind: 'Job', name: String(first.id) },
          ...explanation,
          says: `Job ${first.id} (${first.user}): ${explanation.says}${more}`,
        };
      }
    },
  });
}
