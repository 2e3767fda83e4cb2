/**
 * The rules that CEL in the CRDs cannot state, because they look at other objects or only warn. Pure. The webhook applies them to
 * a request, the controllers to the stored object, so that they hold as well when the webhook was not reached.
 */
import type { Accounting, Controller, LoginSet, NodeSet, RestApi } from '@slurm-operator/api';
import type { DeepReadonly } from '@slurm-operator/kube';
import type { Problem } from '../framework/status/conditions.ts';
import type { Finding, SpecFacts, WorkerNames } from './findings.ts';

type Rule<T> = (object: DeepReadonly<T>, facts: SpecFacts) => readonly Finding[];

/** Files that the operator writes: a second writer would win or lose by chance. */
export const reservedFiles: readonly string[] = ['slurm.conf', 'slurmdbd.conf'];

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

const configFiles: Rule<Controller> = ({ spec }, facts) =>
  (spec.configFileRefs ?? []).flatMap(({ name }, index): Finding[] => {
    const field = `spec.configFileRefs[${index}]`;
    const keys = facts.configMapKeys(name);
    if (keys === undefined)
      return [
        {
          severity: 'error',
          reason: 'ConfigMapNotFound',
          message: `${field}: ConfigMap "${name}" does not exist in this namespace; create it first`,
        },
      ];
    return keys.flatMap((key) => fileFindings(field, name, key));
  });

function fileFindings(field: string, map: string, key: string): Finding[] {
  if (reservedFiles.includes(key))
    return [
      {
        severity: 'error',
        reason: 'InvalidSpec',
        message: `${field}: key "${key}" of ConfigMap "${map}" is reserved for slurm-operator use; put the settings into spec.extraConf`,
      },
    ];
  if (knownFiles.has(key)) return [];
  return [
    {
      severity: 'hint',
      reason: 'InvalidSpec',
      message: `${field}: Slurm is not known to read "${key}" of ConfigMap "${map}"; check its spelling`,
    },
  ];
}

const sharedState: Rule<Controller> = ({ spec }, facts) => {
  const claim = spec.persistence?.existingClaim ?? '';
  if (spec.ha?.enabled !== true || claim === '') return [];
  const modes = facts.claimModes(claim);
  // A claim that does not exist yet may still become the right one.
  if (modes === undefined || modes.includes('ReadWriteMany')) return [];
  return [
    {
      severity: 'error',
      reason: 'InvalidSpec',
      message: `spec.persistence.existingClaim: claim "${claim}" has the access modes ${modes.join(', ') || 'none'}; spec.ha.enabled needs ReadWriteMany, because all slurmctld pods share it`,
      stillReady: true,
    },
  ];
};

/** An address of a node that anybody may claim takes the traffic of others: it is left out of the Service. */
const externalAddresses: Rule<{
  readonly spec: { readonly service?: { readonly spec?: { readonly externalIPs?: unknown } } };
}> = ({ spec }) => {
  const given = spec.service?.spec?.externalIPs;
  if (!Array.isArray(given) || given.length === 0) return [];
  return [
    {
      severity: 'warning',
      reason: 'InvalidSpec',
      message:
        'spec.service.spec.externalIPs is ignored: use a Service of type LoadBalancer, or spec.service.nodePort',
      stillReady: true,
    },
  ];
};

const controllerExists: Rule<Parameters<typeof controllerNotFound>[0]> = (object, facts) => {
  const { name } = object.spec.controllerRef;
  if (name === '' || facts.hasController(name)) return [];
  return [{ severity: 'warning', ...controllerNotFound(object) }];
};

/** Two sets whose Slurm nodes have the same names would take each other's nodes away. */
const distinctNodeNames: Rule<NodeSet> = (nodeSet, facts) => {
  const me = workerNames(nodeSet);
  const others = facts
    .nodeSets()
    .filter(({ name, controller }) => name !== me.name && controller === me.controller);
  const same = others.find(({ prefix }) => prefix === me.prefix);
  if (same !== undefined && me.prefix === '')
    return [
      {
        severity: 'hint',
        reason: 'InvalidSpec',
        message: `spec.scalingMode: NodeSet "${same.name}" is also in DaemonSet mode, and workers of both are named after their node; select different nodes with spec.template.spec.nodeSelector, because only one of the two can have a worker on a node`,
      },
    ];
  if (same !== undefined)
    return [
      {
        severity: 'error',
        reason: 'InvalidSpec',
        message: `spec.template.spec.hostname: the Slurm nodes of NodeSet "${same.name}" also begin with "${me.prefix}"; choose another prefix, because both sets would use the same names`,
      },
    ];
  const close = others.find(({ prefix }) => meet(prefix, me.prefix));
  if (close === undefined) return [];
  return [
    {
      severity: 'hint',
      reason: 'InvalidSpec',
      message: `spec.template.spec.hostname: "${me.prefix}" and "${close.prefix}" of NodeSet "${close.name}" give the same names for some ordinals; end both with "-", because names must be unique`,
    },
  ];
};

/** One prefix is the other with digits behind it: `gpu-` and `gpu-1` both yield `gpu-10`. */
function meet(one: string, other: string): boolean {
  const [short = '', long = ''] = [one, other].toSorted((a, b) => a.length - b.length);
  return short !== '' && long.startsWith(short) && /^\d+$/.test(long.slice(short.length));
}

/** Workers in DaemonSet mode are called after their node: they have no prefix. */
export function workerNames({ metadata, spec }: DeepReadonly<NodeSet>): WorkerNames {
  const hostname = spec.template?.spec?.hostname ?? '';
  return {
    name: metadata.name,
    controller: spec.controllerRef.name,
    prefix: spec.scalingMode === 'DaemonSet' ? '' : hostname === '' ? `${metadata.name}-` : hostname,
  };
}

/** The name of a sleeping node must be known before its worker has a machine. */
const autoscaling: Rule<NodeSet> = ({ spec }) => {
  if (spec.autoscale === undefined) return [];
  if (spec.template?.spec?.hostNetwork === true)
    return [
      {
        severity: 'error',
        reason: 'InvalidSpec',
        message:
          'spec.autoscale: with spec.template.spec.hostNetwork a worker is named after its Kubernetes node, so its Slurm node cannot exist before it; remove one of the two',
      },
    ];
  // 1 is the default.
  if (spec.replicas === 1 || spec.replicas === undefined) return [];
  return [
    {
      severity: 'hint',
      reason: 'InvalidSpec',
      message: `spec.replicas: ${spec.replicas} is ignored while spec.autoscale is set; set spec.autoscale.min for workers that always run`,
    },
  ];
};

const all =
  <T>(...rules: readonly Rule<T>[]): Rule<T> =>
  (object, facts) =>
    rules.flatMap((rule) => rule(object, facts));

/** Every rule of each kind. A Token has none: CEL says it all. */
export const specRules = {
  Controller: all<Controller>(configFiles, sharedState, externalAddresses),
  Accounting: all<Accounting>(externalAddresses),
  LoginSet: all<LoginSet>(controllerExists, externalAddresses),
  NodeSet: all<NodeSet>(controllerExists, distinctNodeNames, autoscaling),
  RestApi: all<RestApi>(controllerExists, externalAddresses),
  Token: all<object>(),
};

interface Refers {
  readonly metadata: { readonly namespace?: string | undefined };
  readonly spec: { readonly controllerRef: { readonly name: string } };
}

/** What an object says whose Controller is not there. */
export const controllerNotFound = ({ metadata, spec }: Refers): Problem => ({
  reason: 'ControllerNotFound',
  message: `spec.controllerRef.name is "${spec.controllerRef.name}"; no such Controller exists in namespace ${metadata.namespace}: create it, or correct the name.`,
});
