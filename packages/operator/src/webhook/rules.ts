/**
 * The rules that CEL in the CRDs cannot state, because they look at other objects or only warn. Everything else that
 * upstream's webhook checks is in packages/api, and holds without any server.
 */
import type { Accounting, Controller, LoginSet, NodeSet, RestApi } from '@slurm-operator/api';
import type { DeepReadonly } from '@slurm-operator/kube';
import {
  error,
  type Findings,
  nothing,
  type Surroundings,
  together,
  type Worker,
  warning,
} from './review.ts';

type Rule<T> = (object: DeepReadonly<T>, around: Surroundings) => Findings | Promise<Findings>;

/** Files that are ours: two writers of one file would be a lottery. */
const ownFiles = new Set(['slurm.conf', 'slurmdbd.conf']);

/** What Slurm reads from its configuration directory. */
const knownFiles = new Set([
  'acct_gather.conf',
  'burst_buffer.conf',
  'cgroup.conf',
  'cli_filter.lua',
  'gres.conf',
  'helpers.conf',
  'job_container.conf',
  'job_submit.lua',
  'mpi.conf',
  'namespace.yaml',
  'oci.conf',
  'plugstack.conf',
  'topology.conf',
  'topology.yaml',
]);

const configFiles: Rule<Controller> = async ({ spec }, around) => {
  const refs = spec.configFileRefs ?? [];
  return together(
    await Promise.all(
      refs.map(async ({ name }, index) => {
        const field = `spec.configFileRefs[${index}]`;
        const keys = await around.configMapKeys(name);
        if (keys === undefined)
          return error(`${field}: there is no ConfigMap "${name}" in this namespace; create it first`);
        return together(keys.map((key) => judgeFile(field, name, key)));
      }),
    ),
  );
};

function judgeFile(field: string, map: string, key: string): Findings {
  if (ownFiles.has(key))
    return error(
      `${field}: key "${key}" of ConfigMap "${map}" is reserved for slurm-operator use; put the settings into spec.extraConf`,
    );
  if (knownFiles.has(key)) return nothing;
  return warning(`${field}: Slurm is not known to read "${key}" of ConfigMap "${map}"; check its spelling`);
}

const sharedState: Rule<Controller> = async ({ spec }, around) => {
  const claim = spec.persistence?.existingClaim ?? '';
  if (spec.ha?.enabled !== true || claim === '') return nothing;
  const modes = await around.claimModes(claim);
  // A claim that is not there yet may still become the right one.
  if (modes === undefined || modes.includes('ReadWriteMany')) return nothing;
  return error(
    `spec.persistence.existingClaim: claim "${claim}" has the access modes ${modes.join(', ') || 'none'}; spec.ha.enabled needs ReadWriteMany, because all slurmctld pods share it`,
  );
};

/** An address of a node that anybody may claim takes the traffic of others: it is left out of the Service. */
const externalAddresses: Rule<{
  readonly spec: { readonly service?: { readonly spec?: { readonly externalIPs?: unknown } } };
}> = ({ spec }) => {
  const given = spec.service?.spec?.externalIPs;
  if (!Array.isArray(given) || given.length === 0) return nothing;
  return warning(
    'spec.service.spec.externalIPs is ignored: use a Service of type LoadBalancer, or spec.service.nodePort',
  );
};

const controllerExists: Rule<{
  readonly spec: { readonly controllerRef: { readonly name?: string | undefined } };
}> = async ({ spec }, around) => {
  const name = spec.controllerRef.name ?? '';
  if (name === '' || (await around.hasController(name))) return nothing;
  return warning(
    `spec.controllerRef: there is no Controller "${name}" in this namespace yet; nothing starts before there is`,
  );
};

/** Two sets whose Slurm nodes have the same names would take each other's nodes away. */
const distinctNodeNames: Rule<NodeSet> = async (nodeSet, around) => {
  const me = workerOf(nodeSet);
  if (nodeSet.spec.scalingMode === 'DaemonSet' || me.prefix === '') return nothing;
  const twin = (await around.nodeSets()).find(
    (other) => other.name !== me.name && other.controller === me.controller && other.prefix === me.prefix,
  );
  if (twin === undefined) return nothing;
  return error(
    `spec.template.spec.hostname: the Slurm nodes of NodeSet "${twin.name}" begin with "${me.prefix}" as well; choose another beginning, because both sets would fight for the same names`,
  );
};

export function workerOf({ metadata, spec }: DeepReadonly<NodeSet>): Worker {
  const hostname = spec.template?.spec?.hostname ?? '';
  return {
    name: metadata.name,
    controller: spec.controllerRef.name,
    prefix: spec.scalingMode === 'DaemonSet' ? '' : hostname === '' ? `${metadata.name}-` : hostname,
  };
}

const all =
  <T>(...rules: readonly Rule<T>[]): Rule<T> =>
  async (object, around) =>
    together(await Promise.all(rules.map(async (rule) => rule(object, around))));

/** Every rule of each kind. A Token has none: CEL says it all. */
export const rules = {
  Controller: all<Controller>(configFiles, sharedState, externalAddresses),
  Accounting: all<Accounting>(externalAddresses),
  LoginSet: all<LoginSet>(externalAddresses, controllerExists),
  NodeSet: all<NodeSet>(controllerExists, distinctNodeNames),
  RestApi: all<RestApi>(externalAddresses, controllerExists),
  Token: all<object>(),
};
