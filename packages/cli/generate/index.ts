/** Writes what follows from the table of commands, the reference page and the ClusterRoles, and slurm-doctor of the login image. */
import { stringify } from 'yaml';
import { clusterRoles } from '../src/command-line/cluster-roles.ts';
import { type Command, globalFlags } from '../src/command-line/command.ts';
import { access } from '../src/command-line/help.ts';
import { commands } from '../src/commands/index.ts';
import { bundleSlurmDoctor } from '../src/login-node/bundle-login.ts';

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;

function section(command: Command): string {
  const { name, usage, summary, flags, examples } = command;
  const flagRows = flags.map(
    ({ name: flag, short, value, description }) =>
      `| ${code(`${short === undefined ? '' : `-${short}, `}--${flag}${value === undefined ? '' : ` ${value}`}`)} | ${description} |`,
  );
  return `## kubectl slurm ${name}

${summary}. ${access(command)}

\`\`\`
kubectl slurm ${name}${usage === '' ? '' : ` ${usage}`}
\`\`\`

${flagRows.length === 0 ? '' : `| flag | |\n|---|---|\n${flagRows.join('\n')}\n\n`}Examples:

\`\`\`sh
${examples.map((example) => (example.startsWith('export ') ? example : `kubectl slurm ${example}`)).join('\n')}
\`\`\`
`;
}

export async function generate(): Promise<ReadonlyMap<string, string>> {
  const page = `<!-- Generated from packages/cli by \`make generate\`. Do not edit. -->
# kubectl slurm: reference

What it is and how to install it: [kubectl slurm](../kubectl-slurm.md). Exit codes: 0 success, 1 findings or differences, 2 could not run, 3 refused.

| flags of all commands | |
|---|---|
${globalFlags.map(({ name, short, value, description }) => `| ${code(`${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`)} | ${description} |`).join('\n')}

${commands.map(section).join('\n')}`;
  const roles = clusterRoles(commands)
    .map((role) => stringify(role, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
  return new Map([
    ['docs/reference/kubectl-slurm.md', page],
    [
      'deploy/kubectl-slurm-roles.yaml',
      `# Generated from packages/cli by \`make generate\`. Do not edit.\n${roles}`,
    ],
    ['images/files/slurm-doctor', await bundleSlurmDoctor()],
  ]);
}
