/** The autoscale settings of a NodeSet, as the plan sees them. Pure. */
import { createHash } from 'node:crypto';
import type { NodeSet } from '@slurm-operator/api';
import { durationMilliseconds, quantityNumber } from '@slurm-operator/kubernetes-values';
import { expandHostlist, type SlurmJob } from '@slurm-operator/slurm';
import { recordConf, slurmSetName, type WorkerSize } from '../../../slurm-config/render/slurmd-conf.ts';
import type { Autoscale, WakeHistory, WakingJob } from '../model/autoscale.ts';

/** The first release whose REST API creates nodes. */
const creates = { major: 25, minor: 11 };

type Release = { readonly major: number; readonly minor: number };

export interface SlurmFacts {
  readonly release: Release | undefined;
  /** slurmctld runs elsewhere: the operator has no container beside it. */
  readonly isExternal: boolean;
  /** Why slurmctld cannot wake nodes now; undefined where it can. */
  readonly cannotWake: string | undefined;
  /** The size of a worker of this NodeSet that has registered. */
  readonly lastWorker: () => WorkerSize | undefined;
}

export function observeAutoscale(
  nodeSet: NodeSet,
  { release, isExternal, cannotWake, lastWorker }: SlurmFacts,
): Autoscale | undefined {
  const { autoscale } = nodeSet.spec;
  if (autoscale === undefined || nodeSet.spec.scalingMode === 'DaemonSet') return undefined;
  const time = (text: string) => durationMilliseconds(text) ?? 0;
  const known = recordConf(nodeSet, shapeOf(autoscale.shape));
  const isKnown = known.size.cpus !== undefined && known.size.memory !== undefined;
  const last = isKnown ? undefined : lastShape(nodeSet, lastWorker());
  const { conf, size } =
    last === undefined ? known : recordConf(nodeSet, { ...shapeOf(autoscale.shape), ...last });
  const { capacity } = autoscale;
  return {
    min: autoscale.min,
    max: autoscale.max,
    spare: autoscale.spare,
    idleAfter: time(autoscale.idleAfter),
    wake: autoscale.wake,
    giveUpAfter: time(capacity.giveUpAfter),
    retryAfter: time(capacity.retryAfter),
    protectAfter: capacity.protectAfter,
    shape: size.cpus === undefined || size.memory === undefined ? undefined : conf,
    size,
    conf: digestOf(known.conf),
    shapeSource: last !== undefined ? 'LastWorker' : autoscale.shape === undefined ? 'Limits' : 'Spec',
    feature: slurmSetName(nodeSet),
    recordsBy: release !== undefined && !createsOverRest(release) ? 'Controller' : 'Rest',
    unsupported: unsupported(release, isExternal),
    cannotWake,
    history: historyOf(nodeSet),
  };
}

/** Without what is compared apart, or changed in place. */
function digestOf(conf: string): string {
  const rest = conf.split(' ').filter((pair) => !/^(cpus|realmemory|feature)=/i.test(pair));
  return createHash('sha256').update(rest.join(' ')).digest('hex').slice(0, 8);
}

type Shape = NonNullable<NonNullable<NodeSet['spec']['autoscale']>['shape']>;

function shapeOf(shape: Shape | undefined): Record<string, string> {
  const memory = Math.floor(quantityNumber(shape?.memory) / 1024 ** 2);
  return {
    ...(shape?.cpus === undefined ? {} : { CPUs: String(shape.cpus) }),
    ...(memory >= 1 ? { RealMemory: String(memory) } : {}),
    ...(shape?.gres === undefined ? {} : { Gres: shape.gres }),
  };
}

/** What the last worker had, now or when the status was written: where neither limits nor the spec say it. */
function lastShape({ status }: NodeSet, listed: WorkerSize | undefined): Record<string, string> | undefined {
  const written = status?.autoscale?.shape;
  const { cpus, memory, gpus } = listed ?? { ...written };
  if (!cpus || !memory) return undefined;
  return { CPUs: String(cpus), RealMemory: String(memory), ...(gpus ? { Gres: `gpu:${gpus}` } : {}) };
}

function historyOf({ status }: NodeSet): WakeHistory {
  const { failures = 0, lastFailure, protectedSince } = status?.autoscale ?? {};
  const at = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text) || undefined);
  return { failures, lastFailureAt: at(lastFailure), protectedSince: at(protectedSince) };
}

const createsOverRest = ({ major, minor }: Release): boolean =>
  major > creates.major || (major === creates.major && minor >= creates.minor);

function unsupported(release: Release | undefined, isExternal: boolean): string | undefined {
  if (release === undefined) return 'the release of Slurm is not known yet';
  if (createsOverRest(release) || !isExternal) return undefined;
  return `Slurm ${release.major}.${String(release.minor).padStart(2, '0')} cannot create nodes through its REST API, and the operator does not run this slurmctld; autoscaling needs 25.11 or later there`;
}

export function observeWakingJob({ id, priority, nodes }: SlurmJob): WakingJob {
  return { id: String(id), priority: priority ?? 0, nodes: expandHostlist(nodes) };
}
