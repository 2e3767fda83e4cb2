/** The autoscale settings of a NodeSet, as the plan sees them. Pure. */
import type { NodeSet } from '@slurm-operator/api';
import { durationMilliseconds, quantityNumber } from '@slurm-operator/kubernetes-values';
import { recordConf, slurmSetName } from '../../../slurm-config/render/slurmd-conf.ts';
import type { Autoscale } from './autoscale.ts';

/** The first release whose REST API creates nodes. */
const creates = { major: 25, minor: 11 };

export function observeAutoscale(
  nodeSet: NodeSet,
  release: { readonly major: number; readonly minor: number } | undefined,
): Autoscale | undefined {
  const { autoscale } = nodeSet.spec;
  if (autoscale === undefined || nodeSet.spec.scalingMode === 'DaemonSet') return undefined;
  const time = (text: string) => durationMilliseconds(text) ?? 0;
  const { conf, size } = recordConf(nodeSet, shapeOf(autoscale.shape));
  return {
    min: autoscale.min,
    max: autoscale.max,
    spare: autoscale.spare,
    idleAfter: time(autoscale.idleAfter),
    retryAfter: time(autoscale.retryAfter),
    shape: size.cpus === undefined || size.memory === undefined ? undefined : conf,
    size,
    feature: slurmSetName(nodeSet),
    unsupported: unsupported(release),
  };
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

function unsupported(
  release: { readonly major: number; readonly minor: number } | undefined,
): string | undefined {
  if (release === undefined) return 'the release of Slurm is not known yet';
  const { major, minor } = release;
  if (major > creates.major || (major === creates.major && minor >= creates.minor)) return undefined;
  return `Slurm ${major}.${String(minor).padStart(2, '0')} cannot create nodes through its REST API; autoscaling needs 25.11 or later`;
}
