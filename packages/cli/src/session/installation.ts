/** The Deployments of the operator's own programs, of the chart (whatever its names are) and of the plain YAML. */
import { type Client, type Deployment, deployments, type Live } from '@slurm-operator/kube';

export type Program = 'operator' | 'webhook' | 'dashboard';

const component = 'app.kubernetes.io/component';
const name = 'app.kubernetes.io/name';

/** The plain YAML has no label for the component; there the name tells. */
export function programOf(labels: Readonly<Record<string, string>> = {}): Program {
  const told = labels[component] ?? labels[name]?.split('-').at(-1);
  return told === 'webhook' || told === 'dashboard' ? told : 'operator';
}

export async function deploymentsOf(
  client: Client,
  program: Program,
  signal: AbortSignal,
): Promise<readonly Live<Deployment>[]> {
  const labelSelector = 'app.kubernetes.io/part-of=slurm-operator';
  const { items } = await client.list(deployments, { labelSelector, signal });
  return items.filter(({ metadata }) => programOf(metadata.labels) === program);
}
