/** What of a diagnosis is about the job, worker, node or NodeSet that was asked for. */
import { type Diagnosis, type EvidenceSet, type Finding, printable } from '@slurm-operator/advice';

export interface Target {
  readonly kind: 'cluster' | 'job' | 'worker' | 'node' | 'nodeset';
  readonly name: string;
}

/** Findings about the target, and about what its findings mention. */
export function about(target: Target, { findings }: Diagnosis): readonly Finding[] {
  if (target.kind === 'cluster') return findings;
  const names = new Set([target.name]);
  const concerns = (finding: Finding): boolean =>
    names.has(finding.subject.name) ||
    (finding.related ?? []).some((name) => names.has(name)) ||
    finding.consequences.some(concerns);
  const first = findings.filter(concerns);
  for (const finding of first) for (const name of finding.related ?? []) names.add(name);
  return target.kind === 'job' ? findings.filter(concerns) : first;
}

export function jobHeadline(target: Target, evidence: EvidenceSet): string {
  if (target.kind !== 'job' || evidence.jobs?.kind !== 'known') return '';
  const job = evidence.jobs.value.find(({ id }) => String(id) === target.name);
  return job === undefined
    ? ''
    : printable(
        `job ${job.id} · ${job.name} · ${job.user} · partition ${job.partition} · ${job.state.join('+')}`,
      );
}
