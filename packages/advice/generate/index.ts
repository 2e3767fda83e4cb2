/** Writes the reference page of the rules. */
import type { Family } from '../src/finding.ts';
import { rules } from '../src/rules/index.ts';

const families: Readonly<Record<Family, string>> = {
  install: 'Installation and operator',
  'control-plane': 'Control plane and configuration',
  accounting: 'Accounting, login, tokens and keys',
  workers: 'Workers that do not run',
  'slurm-nodes': 'Slurm nodes that take no jobs',
  jobs: 'Jobs that do not run',
  rollouts: 'Rollouts and scale-ins that do not end',
};

const slurmEvidence = new Set([
  'slurmNodes',
  'jobs',
  'partitions',
  'reservations',
  'diag',
  'licenses',
  'associations',
  'endedJob',
]);

export function generate(): Promise<ReadonlyMap<string, string>> {
  const sections = Object.entries(families).map(([family, title]) => {
    const rows = rules
      .filter((rule) => rule.family === family)
      .map(({ id, title: what, severity, needs }) => {
        const from = [
          needs.some((name) => !slurmEvidence.has(name) && name !== 'logs') && 'Kubernetes',
          needs.some((name) => slurmEvidence.has(name)) && 'Slurm',
          needs.includes('logs') && 'logs',
        ].filter((part) => part !== false);
        return `| ${id} | ${what} | ${severity} | ${from.join(', ')} |`;
      });
    return `## ${title}\n\n| rule | what it finds | severity | evidence |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return Promise.resolve(
    new Map([
      [
        'docs/reference/doctor.md',
        `<!-- Generated from packages/advice by \`make generate\`. Do not edit. -->
# Rules of \`kubectl slurm doctor\`

${rules.length} rules. A rule whose evidence cannot be read does not run, and the report says so. \`info\` explains what is as intended and
does not change the exit code; rules about waiting jobs with severity \`info\` are shown for one job only (\`kubectl slurm doctor job/4711\`).

${sections.join('\n')}`,
      ],
    ]),
  );
}
