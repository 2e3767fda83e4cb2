/** Puts the dashboard program together from its command line. */
import { readFile } from 'node:fs/promises';
import { setupDashboard } from '../dashboard/setup.ts';
import { digestRevision, nodeFields, podFields } from './cached-objects.ts';
import { dashboardFlags } from './dashboard-flags.ts';
import { managerOf } from './manager-of.ts';
import type { Program } from './run-program.ts';

export const runDashboard: Program = async (args, env, signal) => {
  const flags = dashboardFlags(args, env, await readFile('/etc/resolv.conf', 'utf8').catch(() => ''));
  if ('usage' in flags) return flags.usage;
  // The pod may be removed with its node at any time: it holds nothing but sessions.
  const serving = { ...flags.serving, replica: undefined };
  const { manager, config } = await managerOf({ name: 'slurm-operator-dashboard' }, { ...flags, serving });
  await setupDashboard(manager, config, flags.dashboard, {
    pod: podFields,
    node: nodeFields,
    revision: digestRevision,
  });
  await manager.start(signal);
  return undefined;
};
