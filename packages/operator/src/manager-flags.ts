/** The flags of the manager program: upstream's names and defaults, and a few of our own. */
import { parseArgs } from 'node:util';
import type { OperatorOptions } from './operator.ts';

const kinds = ['accounting', 'controller', 'loginset', 'nodeset', 'restapi', 'slurmclient', 'token'] as const;

const usage = `slurm-operator: runs Slurm clusters on Kubernetes.

  --namespaces a,b                 look at these namespaces only (default: all)
  --leader-elect                   run several replicas, one of which works
  --leader-elect-namespace NAME    where the lease is (default: the operator's own namespace)
  --health-addr :8081              serve /livez, /healthz and /readyz there; 0 for nowhere
  --metrics-addr :8080             serve /metrics there; 0 for nowhere
  --propagated-node-conditions A,B node conditions whose text becomes the reason of a drain
  --<kind>-workers N               reconciles at a time (${kinds.join(', ')})
  --image-repository PREFIX        where images come from that no custom resource names (default: slurm-operator)
  --image-tag TAG                  their tag (default: 26.05)
  --cluster-domain DOMAIN          domain of Services (default: cluster.local)
  --reach-services-by name|address name: through the cluster's DNS; address: for an operator outside of the cluster
  --log-level LEVEL                debug, info, warn or error (default: info)
  --kubeconfig FILE                (default: KUBECONFIG, the pod's service account, or ~/.kube/config)`;

export interface ManagerFlags extends OperatorOptions {
  readonly help: false;
  readonly namespaces: readonly string[] | undefined;
  readonly leaderElection: { readonly namespace: string } | undefined;
  readonly health: { readonly port: number; readonly host?: string } | undefined;
  readonly metrics: { readonly port: number; readonly host?: string } | undefined;
  readonly logLevel: string;
  readonly kubeconfig: string | undefined;
}

const text = (value: string) => ({ type: 'string', default: value }) as const;

/** Throws a sentence for people when a flag is wrong. */
export function managerFlags(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ManagerFlags | { readonly help: true; readonly usage: string } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      namespaces: text(''),
      'leader-elect': { type: 'boolean', default: false },
      'leader-elect-namespace': text(''),
      'health-addr': text(':8081'),
      'metrics-addr': text(':8080'),
      'propagated-node-conditions': text(''),
      'image-repository': text('slurm-operator'),
      'image-tag': text('26.05'),
      'cluster-domain': text('cluster.local'),
      'reach-services-by': text('name'),
      'log-level': text(env['LOG_LEVEL'] ?? 'info'),
      kubeconfig: text(''),
      ...Object.fromEntries(kinds.map((kind) => [`${kind}-workers`, text('4')])),
    },
  });
  if (values.help) return { help: true, usage };
  const flag = (name: string): string => {
    const value = (values as Record<string, string | boolean | undefined>)[name];
    return typeof value === 'string' ? value : '';
  };
  const image = (name: string) => `${flag('image-repository')}/${name}:${flag('image-tag')}`;
  const reachBy = flag('reach-services-by');
  if (reachBy !== 'name' && reachBy !== 'address')
    throw new Error(`--reach-services-by is "${reachBy}": use name or address`);
  const namespaces = list(flag('namespaces'));
  return {
    help: false,
    namespaces: namespaces.length === 0 ? undefined : namespaces,
    leaderElection: values['leader-elect']
      ? { namespace: flag('leader-elect-namespace') || (env['POD_NAMESPACE'] ?? 'slinky') }
      : undefined,
    health: address('--health-addr', flag('health-addr')),
    metrics: address('--metrics-addr', flag('metrics-addr')),
    logLevel: flag('log-level'),
    kubeconfig: flag('kubeconfig') || undefined,
    clusterDomain: flag('cluster-domain'),
    reachBy,
    images: {
      slurmctld: image('slurmctld'),
      slurmd: image('slurmd'),
      slurmdbd: image('slurmdbd'),
      slurmrestd: image('slurmrestd'),
      login: image('login'),
    },
    workers: Object.fromEntries(
      kinds.map((kind) => [kind, positive(`--${kind}-workers`, flag(`${kind}-workers`))]),
    ) as ManagerFlags['workers'],
    propagatedConditions: new Set(list(flag('propagated-node-conditions'))),
  };
}

const list = (value: string): string[] =>
  value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

function positive(flag: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`${flag} is "${value}": give a whole number of at least 1`);
  return number;
}

function address(flag: string, value: string): { port: number; host?: string } | undefined {
  if (value === '0' || value === '') return undefined;
  const match = /^(.*):(\d+)$/.exec(value);
  if (match === null) throw new Error(`${flag} is "${value}": give an address such as :8081, or 0 for none`);
  const host = match[1] ?? '';
  return { port: Number(match[2]), ...(host === '' ? {} : { host }) };
}
