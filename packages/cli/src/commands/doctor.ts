/** The command doctor. Its program is loaded when it runs. */
import type { Command } from '../command-line/command.ts';
import { reachSlurm, readEvidence } from './needs.ts';

export const doctor: Command = {
  name: 'doctor',
  group: 'look',
  summary: 'Find out why something does not run, and what to do',
  usage: '[job/ID | worker/NAME | node/NAME | nodeset/NAME]',
  flags: [
    {
      name: 'report',
      value: 'FILE',
      description: 'Also write all evidence to FILE (.json.gz), without secrets.',
    },
  ],
  examples: [
    'doctor',
    'doctor job/4711',
    'doctor worker/gpu-3',
    'doctor --report report.json.gz',
    'doctor -o json',
  ],
  slurm: 'optional',
  role: 'viewer',
  needs: [...readEvidence, ...reachSlurm],
  completes: 'jobs',
  run: async (session, line) => (await import('./run-doctor.ts')).runDoctor(session, line),
};
