/** The command plan. Its program is loaded when it runs. */
import type { Command } from '../command-line/command.ts';
import { reachSlurm, readDryRun } from './needs.ts';

export const plan: Command = {
  name: 'plan',
  group: 'change',
  summary: 'Say what a change of a NodeSet would do, and when it would be over',
  usage: 'nodeset/NAME [--replicas N] [--image IMAGE] [--restart] | -f FILE',
  flags: [
    { name: 'replicas', value: 'N', description: 'With so many workers.' },
    { name: 'image', value: 'IMAGE', description: 'With this image of slurmd.' },
    { name: 'restart', description: 'With every worker replaced.' },
    {
      name: 'filename',
      short: 'f',
      value: 'FILE',
      description: 'With the NodeSets of this file (- for standard input), tried as a server-side dry run.',
    },
  ],
  examples: [
    'plan nodeset/gpu --replicas 40',
    'plan nodeset/gpu --image slurmd:26.05.4',
    'plan -f gpu.yaml',
    'plan nodeset/gpu',
  ],
  slurm: 'optional',
  role: 'viewer',
  completes: 'nodesets',
  needs: [...reachSlurm, ...readDryRun],
  run: async (session, line) => (await import('./run-plan.ts')).runPlan(session, line),
};
