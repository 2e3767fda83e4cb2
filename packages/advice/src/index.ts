/** Why something does not run, and what to do about it. No I/O: evidence in, findings out. */
export { type Diagnosis, diagnose } from './diagnose.ts';
export { type Evidence, forbidden, known, unknown } from './evidence/evidence.ts';
export type {
  Context,
  EvidenceName,
  EvidenceSet,
  NetworkPolicy,
  StorageClass,
  Values,
  WebhookProbe,
} from './evidence/values.ts';
export type { Finding, Severity } from './finding.ts';
export { rules } from './rules/index.ts';
export { couldRun, demandOf, gpus } from './rules/job-demand.ts';
export { leaderLostFor } from './rules/read.ts';
export { jobsByNode } from './rules/slurm-nodes.ts';
export {
  count,
  hosts,
  moment,
  printable,
  printableLines,
  quote,
  span,
} from './text/text.ts';
