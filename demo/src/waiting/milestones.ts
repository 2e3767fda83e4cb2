/** What has been achieved, as names that never repeat: a crash loop adds none. Pure. */
import type { DeepReadonly, Pod } from '@slurm-operator/kube';
import type { Evidence } from './evidence.ts';

export function milestones({ objects, pods, claims }: Evidence): string[] {
  return [
    ...objects.map(({ kind, name, isReady }) => `${kind} ${name} ${isReady ? 'is Ready' : 'exists'}`),
    ...claims
      .filter(({ status }) => status?.phase === 'Bound')
      .map(({ metadata }) => `claim ${metadata.name} is bound`),
    ...pods.flatMap(podMilestones),
  ];
}

function podMilestones({ metadata, spec, status }: DeepReadonly<Pod>): string[] {
  // A Deployment that replaces its pods again and again does not advance by their new names.
  const name = metadata.generateName ?? metadata.name;
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return [
    ...(spec?.nodeName === undefined ? [] : [`pod ${name} is scheduled`]),
    ...containers.flatMap((each) => [
      ...(each.state?.running === undefined ? [] : [`pod ${name}: ${each.name} has started`]),
      ...(each.ready ? [`pod ${name}: ${each.name} is ready`] : []),
    ]),
  ];
}
