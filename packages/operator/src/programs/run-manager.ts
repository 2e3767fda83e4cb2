/** Puts the manager program together from its command line. */
import { readFile } from 'node:fs/promises';
import { setupExchange } from '../exchange/setup.ts';
import { managerFlags } from './manager-flags.ts';
import { managerOf } from './manager-of.ts';
import { setupOperator } from './operator.ts';
import { serveProfiles } from './profiles.ts';
import type { Program } from './run-program.ts';

export const runManager: Program = async (args, env, signal) => {
  const flags = managerFlags(args, env, await readFile('/etc/resolv.conf', 'utf8').catch(() => ''));
  if ('usage' in flags) return flags.usage;
  const { manager, config } = await managerOf({ name: 'slurm-operator' }, flags);
  const operator = setupOperator(manager, flags);
  if (flags.exchange !== undefined)
    setupExchange(manager, { ...flags.exchange, namespace: flags.podNamespace ?? config.namespace });
  manager.addLocalRoute('/debug/vars', () => ({
    status: 200,
    type: 'application/json',
    text: `${JSON.stringify({ ...ownVars(), ...operator.debugVars() }, undefined, 2)}\n`,
  }));
  const { profile } = flags;
  if (profile !== undefined)
    manager.add({ name: 'profiles', run: (until) => serveProfiles(profile, until) }, { everywhere: true });
  await manager.start(signal);
  return undefined;
};

/** What Go programs say of themselves there. */
function ownVars(): object {
  return {
    cmdline: process.argv,
    uptimeSeconds: Math.round(process.uptime()),
    memory: process.memoryUsage(),
  };
}
