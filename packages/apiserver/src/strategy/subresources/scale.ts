/** The scale subresource of workloads: how many there are, how many there should be. */

import { type LabelSelector, selectorText } from '@slurm-operator/kubernetes-values';
import { invalidValue } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { ViewSubresource } from '../../resource/resource-definition.ts';

interface Scalable {
  readonly spec?: { replicas?: number; readonly selector?: LabelSelector };
  readonly status?: { readonly replicas?: number };
}

export function scaleOf(): ViewSubresource {
  return {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    read(object) {
      const { spec, status } = typed<Scalable>(object);
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const selector = selectorText(spec?.selector);
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: spec?.replicas ? { replicas: spec.replicas } : {},
        status: { replicas: status?.replicas ?? 0, ...(selector === '' ? {} : { selector }) },
      };
    },
    write(view, object) {
      const { spec } = typed<Scalable>(object);
      if (spec) spec.replicas = replicasOf(view);
    },
    validate(view) {
      const replicas = replicasOf(view);
      return replicas < 0
        ? [invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0')]
        : [];
    },
  };
}

function replicasOf(view: KubeObject): number {
  return typed<Scalable>(view).spec?.replicas ?? 0;
}
