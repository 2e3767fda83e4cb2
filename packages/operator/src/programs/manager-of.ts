/** The runtime manager that a program's flags ask for. */
import { type ClusterConfig, createLog, createManager, loadConfig, type Manager } from '@slurm-operator/kube';
import type { LogSettings } from './log-flags.ts';
import { FlagError } from './parse-flags.ts';
import type { ServingSettings } from './serving-flags.ts';
import { StepAside } from './step-aside.ts';

export interface Named {
  /** Of the program, its field manager and, unless a flag names it, its lease. */
  readonly name: string;
}

export async function managerOf(
  { name }: Named,
  settings: { readonly serving: ServingSettings; readonly log: LogSettings },
): Promise<{ readonly manager: Manager; readonly config: ClusterConfig }> {
  const { kubeconfig, namespaces, leaderElection, health, metrics, http2 } = settings.serving;
  const config = await loadConfig(kubeconfig === undefined ? {} : { files: [kubeconfig] });
  const manager = await createManager({
    name,
    config,
    log: createLog(name, settings.log),
    // The API server itself is fair between its clients; what we have under way at once is bounded where it is begun.
    client: { rateLimit: false },
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(leaderElection === undefined
      ? {}
      : {
          leaderElection: {
            name: leaderElection.name ?? name,
            namespace: leaseNamespace(leaderElection.namespace, config),
          },
        }),
    ...(health === undefined ? {} : { health }),
    ...(metrics === undefined ? {} : { metrics: { ...metrics, http2 } }),
  });
  const { replica } = settings.serving;
  if (replica !== undefined) {
    const aside = new StepAside(manager.unguardedClient, replica, manager);
    manager.health.addReadyCheck('drain', aside.check);
    manager.add(aside, { everywhere: true });
  }
  return { manager, config };
}

function leaseNamespace(asked: string | undefined, config: ClusterConfig): string {
  const namespace = asked ?? config.namespace;
  if (namespace === '')
    throw new FlagError('--leader-elect needs --leader-elect-namespace if POD_NAMESPACE is not set');
  return namespace;
}
