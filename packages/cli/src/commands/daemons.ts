/** Which pod and container a word such as `slurmctld` or `slurmd/gpu-3` means. */
import { label } from '@slurm-operator/api';
import { type Live, type Pod, pods } from '@slurm-operator/kube';
import { CliError } from '../errors.ts';
import { deploymentsOf } from '../session/installation.ts';
import { servingFirst } from '../session/serving-pods.ts';
import type { Session } from '../session/session.ts';

export const daemons = ['slurmctld', 'slurmd', 'slurmdbd', 'slurmrestd', 'login', 'operator'] as const;
type Daemon = (typeof daemons)[number];

const components: Readonly<Record<Exclude<Daemon, 'operator'>, string>> = {
  slurmctld: 'controller',
  slurmd: 'worker',
  slurmdbd: 'accounting',
  slurmrestd: 'restapi',
  login: 'login',
};

export interface DaemonPod {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly daemon: Daemon;
}

/** `slurmctld`, `slurmd/gpu-3`, `gpu-3`, `login`, `operator`: the pod to connect to first. */
export async function findDaemon(session: Session, word: string): Promise<readonly DaemonPod[]> {
  const [first = '', name] = word.replace(/^(node|worker|pod)\//, 'slurmd/').split('/');
  const daemon = daemons.find((each) => each === first);
  if (daemon === 'operator') return operatorPods(session);
  const { metadata } = await session.cluster();
  const client = await session.client();
  const { items } = await client.list(pods, { namespace: metadata.namespace, signal: session.signal });
  const wanted = daemon === undefined ? first : name;
  const component = components[daemon ?? 'slurmd'];
  const mine = items.filter(
    (pod) =>
      pod.metadata.labels?.[label.component] === component &&
      (wanted === undefined ||
        pod.metadata.name === wanted ||
        pod.metadata.labels[label.podHostname] === wanted),
  );
  if (mine.length === 0)
    throw new CliError(
      wanted === undefined
        ? `There is no pod of ${first} in namespace ${metadata.namespace}.`
        : `There is no ${daemon ?? 'worker'} ${wanted} in namespace ${metadata.namespace}: name one of ${daemons.join(', ')}, slurmd/NODE or a node.`,
    );
  return servingFirst(mine, isActive).map((pod) => ({
    namespace: metadata.namespace,
    pod: pod.metadata.name,
    container: pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'] ?? daemon ?? 'slurmd',
    daemon: daemon ?? 'slurmd',
  }));
}

const isActive = ({ metadata }: Live<Pod>): boolean => metadata.labels?.[label.activeController] === 'true';

async function operatorPods(session: Session): Promise<readonly DaemonPod[]> {
  const client = await session.client();
  const [deployment] = await deploymentsOf(client, 'operator', session.signal);
  if (deployment === undefined)
    throw new CliError('There is no Deployment of slurm-operator that you may see.');
  const { namespace } = deployment.metadata;
  const selector = Object.entries(deployment.spec?.selector.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const found = await client.list(pods, { namespace, labelSelector: selector, signal: session.signal });
  if (found.items.length === 0)
    throw new CliError(`The Deployment ${deployment.metadata.name} in namespace ${namespace} has no pods.`);
  return servingFirst(found.items).map((pod) => ({
    namespace: namespace ?? '',
    pod: pod.metadata.name,
    container: pod.spec?.containers[0]?.name ?? 'manager',
    daemon: 'operator',
  }));
}

export async function oneDaemon(session: Session, word: string): Promise<DaemonPod> {
  const [first] = await findDaemon(session, word);
  if (first === undefined) throw new CliError(`There is no pod of ${word}.`);
  return first;
}
