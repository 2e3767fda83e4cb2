/** Help texts, made of the command table. */
import type { Command, Flag } from './command.ts';
import { globalFlags } from './command.ts';

const groups: Readonly<Record<Command['group'], string>> = {
  look: 'See what is going on',
  jobs: 'Jobs',
  nodes: 'Nodes',
  change: 'Rollouts and changes',
  reach: 'Daemons and access',
  other: 'Other',
};

const rows = (pairs: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
};

const flagRow = (flag: Flag): readonly [string, string] => [
  `${flag.short === undefined ? '    ' : `-${flag.short}, `}--${flag.name}${flag.value === undefined ? '' : ` ${flag.value}`}`,
  flag.description,
];

export function overview(commands: readonly Command[]): string {
  const parts = Object.entries(groups).map(([group, title]) => {
    const mine = commands.filter((command) => command.group === group);
    return `${title}:\n${rows(mine.map(({ name, summary }) => [name, summary]))}`;
  });
  return `kubectl slurm: Slurm clusters on Kubernetes

${parts.join('\n\n')}

Start with "kubectl slurm status", and "kubectl slurm doctor" when something is wrong.
"kubectl slurm COMMAND --help" shows flags and examples, "kubectl slurm options" the flags of all commands.
`;
}

/** Of commands that share their first word, such as rollout. */
export const groupHelp = (word: string, commands: readonly Command[]): string =>
  `kubectl slurm ${word} COMMAND

${rows(commands.filter(({ name }) => name.startsWith(`${word} `)).map(({ name, summary }) => [name, summary]))}

"kubectl slurm ${word} COMMAND --help" shows flags and examples.
`;

export const optionsHelp = (): string => `Flags of all commands:\n${rows(globalFlags.map(flagRow))}\n`;

export function commandHelp(command: Command): string {
  const { name, usage, summary, flags, examples } = command;
  const examplesText = examples.map((example) => `  kubectl slurm ${example}`).join('\n');
  return `${summary}.

Usage:
  kubectl slurm ${name}${usage === '' ? '' : ` ${usage}`}

Examples:
${examplesText}
${flags.length === 0 ? '' : `\nFlags:\n${rows(flags.map(flagRow))}\n`}
${access(command)}
"kubectl slurm options" lists the flags of all commands.
`;
}

/** What the command needs of the user, and how it answers if it does not know every format. */
export function access({ role, slurm, formats, passesOn }: Command): string {
  const token =
    slurm === 'required'
      ? ' and a Slurm token (the token exchange, $SLURM_JWT, or the right to read the JWT key)'
      : slurm === 'optional'
        ? '; with a Slurm token it shows more'
        : '';
  const output =
    formats === undefined || passesOn === true
      ? ''
      : formats.length === 0
        ? ' Prints text, and takes no --output.'
        : ` --output: ${formats.join(', ')}.`;
  return `Needs the ClusterRole slurm-${role}${token}.${output}`;
}
