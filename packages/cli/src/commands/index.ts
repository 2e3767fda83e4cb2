/** The table of commands, in the order of the help. */
import type { Command } from '../command-line/command.ts';
import { aboutCommands } from './about.ts';
import { access } from './access.ts';
import { check } from './check.ts';
import { diff } from './diff.ts';
import { doctor } from './doctor.ts';
import { drain, resume } from './drain.ts';
import { exec, passedOn } from './exec.ts';
import { jobActions } from './job-actions.ts';
import { job, jobs } from './jobs.ts';
import { logs } from './logs.ts';
import { nodes } from './nodes.ts';
import { plan } from './plan.ts';
import { rollout } from './rollout.ts';
import { status } from './status.ts';
import { submit } from './submit.ts';
import { top } from './top.ts';

export const commands: readonly Command[] = [
  status,
  doctor,
  top,
  check,
  jobs,
  job,
  submit,
  ...jobActions,
  nodes,
  drain,
  resume,
  plan,
  diff,
  ...rollout,
  logs,
  exec,
  ...access,
  ...passedOn,
  ...aboutCommands,
];
