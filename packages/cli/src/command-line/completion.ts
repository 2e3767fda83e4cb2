/** Candidates for the word that is being typed, in the protocol of kubectl: one per line, then `:4` (no files) or `:0` (files). */
import { printable } from '@slurm-operator/advice';
import { label } from '@slurm-operator/api';
import { type ClusterConfig, pods } from '@slurm-operator/kube';
import type { Io } from '../io.ts';
import { clusters, nodeSets } from '../session/resources.ts';
import { Session } from '../session/session.ts';
import { type Command, globalFlags } from './command.ts';
import { parse } from './parse.ts';

export interface CompletionOptions {
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly config?: ClusterConfig;
}

/** Candidates must come while the user waits. */
const patienceMs = 3_000;

export async function completions(
  words: readonly string[],
  commands: readonly Command[],
  options: CompletionOptions,
): Promise<number> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const found = await candidates(current, before, commands, options).catch(() => []);
  if (found === 'files') {
    options.io.out(':0\n');
    return 0;
  }
  const matching = found.filter(([word]) => word.startsWith(current));
  options.io.out(
    `${matching.map(([word, description]) => (description === '' ? printable(word) : `${printable(word)}\t${printable(description)}`)).join('\n')}${matching.length > 0 ? '\n' : ''}:4\n`,
  );
  return 0;
}

type Candidate = readonly [word: string, description: string];

async function candidates(
  current: string,
  before: readonly string[],
  commands: readonly Command[],
  options: CompletionOptions,
): Promise<readonly Candidate[] | 'files'> {
  // A flag whose value is being typed cannot be parsed yet.
  const last = before.at(-1) ?? '';
  const complete = last.startsWith('-') ? before.slice(0, -1) : before;
  const line = parse(complete, commands);
  const flags = [...globalFlags, ...(line.command?.flags ?? [])];
  const open = flags.find(
    ({ name, short, value }) =>
      value !== undefined && (before.at(-1) === `--${name}` || before.at(-1) === `-${short ?? ''}`),
  );
  if (open?.value === 'FILE') return 'files';
  if (open !== undefined) return (open.choices ?? []).map((choice) => [choice, ''] as const);
  if (current.startsWith('-'))
    return flags.map(({ name, description }) => [`--${name}`, description] as const);
  if (line.command === undefined) {
    const depth = line.words.length;
    const mine = commands.filter(({ name }) =>
      line.words.every((word, index) => name.split(' ')[index] === word),
    );
    const seen = new Map<string, string>();
    for (const { name, summary } of mine) {
      const word = name.split(' ')[depth] ?? '';
      if (!seen.has(word))
        seen.set(word, name.split(' ').length > depth + 1 ? `${name.split(' ')[depth]} …` : summary);
    }
    return [...seen];
  }
  if (line.command.usage.startsWith('FILE')) return 'files';
  return arguments_(
    line.command,
    new Session({ ...options, line }),
    AbortSignal.any([options.signal, AbortSignal.timeout(patienceMs)]),
  );
}

async function arguments_(
  command: Command,
  session: Session,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  await using _ = session;
  const names = (list: readonly { readonly metadata: { readonly name: string } }[], prefix = '') =>
    list.map(({ metadata }) => [`${prefix}${metadata.name}`, ''] as const);
  switch (command.completes) {
    case 'shells':
      return ['kubectl', 'bash', 'zsh', 'fish'].map((shell) => [shell, ''] as const);
    case 'daemons':
      return ['slurmctld', 'slurmd', 'slurmdbd', 'slurmrestd', 'login', 'operator'].map(
        (daemon) => [daemon, ''] as const,
      );
    case 'clusters':
      return names(
        (await (await session.client()).list(clusters, { namespace: await session.namespace(), signal }))
          .items,
      );
    case 'nodesets':
      return names(
        (await (await session.client()).list(nodeSets, { namespace: await session.namespace(), signal }))
          .items,
        'nodeset/',
      );
    case 'nodes': {
      const { items } = await (await session.client()).list(pods, {
        namespace: await session.namespace(),
        labelSelector: 'app.kubernetes.io/component=worker',
        signal,
      });
      return items.map(
        ({ metadata }) => [metadata.labels?.[label.podHostname] ?? metadata.name, ''] as const,
      );
    }
    case 'jobs': {
      const { items } = await (await session.slurm()).jobs.list({ signal });
      const prefix = command.name === 'doctor' ? 'job/' : '';
      return items.map(({ id, name, user }) => [`${prefix}${id}`, `${name} of ${user}`] as const);
    }
    case undefined:
      return [];
  }
}

/** Small scripts that ask the plugin itself for candidates. */
export function completionScript(shell: string): string | undefined {
  switch (shell) {
    case 'kubectl':
      return '#!/bin/sh\n# kubectl runs this file for completion of "kubectl slurm". Put it beside kubectl-slurm.\nexec kubectl-slurm __complete "$@"\n';
    case 'bash':
      return `_kubectl_slurm() {
  local IFS=$'\\n'
  COMPREPLY=($(kubectl-slurm __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | grep -v '^:' | cut -f1))
}
complete -o default -F _kubectl_slurm kubectl-slurm
`;
    case 'zsh':
      return `#compdef kubectl-slurm
_kubectl_slurm() {
  local -a candidates
  candidates=(\${(f)"$(kubectl-slurm __complete "\${words[@]:1}" 2>/dev/null | grep -v '^:' | sed 's/\\t/:/')"})
  if (( $#candidates )); then _describe 'kubectl slurm' candidates; else _files; fi
}
compdef _kubectl_slurm kubectl-slurm
`;
    case 'fish':
      return `complete -c kubectl-slurm -a "(kubectl-slurm __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null | string match -v ':*')"\n`;
    default:
      return undefined;
  }
}
