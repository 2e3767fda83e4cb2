/** Every rule, in the order of the reference page. */
import type { Rule } from '../finding.ts';
import { accountingRules } from './accounting.ts';
import { configurationRules } from './configuration.ts';
import { controlPlaneRules } from './control-plane.ts';
import { endedJobRules } from './ended-jobs.ts';
import { installRules } from './install.ts';
import { jobLimitRules } from './job-limits.ts';
import { jobRules } from './jobs.ts';
import { nodeConditionRules } from './node-conditions.ts';
import { rolloutRules } from './rollouts.ts';
import { slurmNodeRules } from './slurm-nodes.ts';
import { workerSetupRules } from './worker-setup.ts';
import { workerRules } from './workers.ts';

const unsorted: readonly Rule[] = [
  ...installRules,
  ...controlPlaneRules,
  ...configurationRules,
  ...accountingRules,
  ...workerRules,
  ...workerSetupRules,
  ...slurmNodeRules,
  ...nodeConditionRules,
  ...jobRules,
  ...jobLimitRules,
  ...endedJobRules,
  ...rolloutRules,
];

export const rules: readonly Rule[] = unsorted.toSorted((a, b) =>
  a.id.localeCompare(b.id, 'en', { numeric: true }),
);
