/** The command diff. Its program is loaded when it runs. */
import type { Command } from '../command-line/command.ts';
import { reachSlurm, tryChanges, tryInPod } from './needs.ts';

export const diff: Command = {
  name: 'diff',
  group: 'change',
  summary: 'Say what manifests would change in objects and slurm.conf, and what that means for jobs',
  usage: '-f FILE [--try]',
  flags: [
    {
      name: 'filename',
      short: 'f',
      value: 'FILE',
      description:
        'Manifests of slurm-operator, or - for standard input (helm template … | kubectl slurm diff -f -).',
    },
    {
      name: 'try',
      description: 'Also let a slurmctld read the new slurm.conf, in a pod that is removed again.',
    },
  ],
  examples: ['diff -f controller.yaml', 'diff -f controller.yaml --try', 'diff -f - < all.yaml'],
  slurm: 'optional',
  role: 'admin',
  needs: [...reachSlurm, ...tryChanges, ...tryInPod],
  run: async (session, line) => (await import('./run-diff.ts')).runDiff(session, line),
};
