/** The program `manager`: all controllers in one process. */
import { createLog, createManager, kubeconfigConfig, shutdownSignal } from '@slurm-operator/kube';
import { type ManagerFlags, managerFlags } from './manager-flags.ts';
import { setupOperator } from './operator.ts';

async function run(flags: ManagerFlags): Promise<void> {
  const log = createLog('slurm-operator', { level: flags.logLevel });
  const manager = await createManager({
    name: 'slurm-operator',
    log,
    ...(flags.kubeconfig === undefined
      ? {}
      : { config: await kubeconfigConfig({ files: [flags.kubeconfig] }) }),
    ...(flags.namespaces === undefined ? {} : { namespaces: flags.namespaces }),
    ...(flags.leaderElection === undefined
      ? {}
      : { leaderElection: { ...flags.leaderElection, name: 'slurm-operator' } }),
    ...(flags.health === undefined ? {} : { health: flags.health }),
    ...(flags.metrics === undefined ? {} : { metrics: flags.metrics }),
  });
  setupOperator(manager, flags);
  await manager.start(shutdownSignal());
}

try {
  const flags = managerFlags(process.argv.slice(2), process.env);
  if (flags.help) console.log(flags.usage);
  else await run(flags);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
