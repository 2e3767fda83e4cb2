/** Why something does not run, and what to do about it. No I/O: evidence in, findings out. */
export { type Diagnosis, diagnose, type Unchecked } from './diagnose.ts';
export { type Evidence, forbidden, known, missing, unknown } from './evidence/evidence.ts';
export type {
  Context,
  EvidenceName,
  EvidenceSet,
  NamespaceView,
  NetworkPolicy,
  Permission,
  StorageClass,
  Values,
  WebhookProbe,
} from './evidence/values.ts';
export type { Family, Finding, Rule, Severity, Subject } from './finding.ts';
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
