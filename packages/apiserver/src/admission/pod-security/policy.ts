/** What a namespace asks for in its labels, and what of an object it asks it of. Pure. */

import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { PodView } from './pod-view.ts';
import type { Level } from './violations.ts';

export const PREFIX = 'pod-security.kubernetes.io/';

/** `enforce` refuses pods, `warn` tells the client, `audit` notes it; the last two look at workloads too. */
export type Mode = 'enforce' | 'warn' | 'audit';

export interface Policy {
  readonly level: Level;
  /** `restricted:latest`, as it is shown. */
  readonly text: string;
}

export function policyOf(namespace: KubeObject, mode: Mode): Policy {
  const labels = namespace.metadata.labels ?? {};
  const level = (labels[`${PREFIX}${mode}`] ?? 'privileged') as Level;
  return { level, text: `${level}:${labels[`${PREFIX}${mode}-version`] ?? 'latest'}` };
}

interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: IPodSpec;
}

interface Workload {
  readonly spec?: {
    readonly template?: Template;
    readonly jobTemplate?: { readonly spec?: { readonly template?: Template } };
  };
}

const WITH_TEMPLATE = new Set([
  'deployments',
  'statefulsets',
  'daemonsets',
  'replicasets',
  'replicationcontrollers',
  'jobs',
]);

/** The pod that an object is, or that it would make; undefined for everything else. */
export function podOf(plural: string, object: KubeObject | undefined): PodView | undefined {
  const workload = object as Workload | undefined;
  const template =
    plural === 'pods'
      ? typed<Template>(object)
      : plural === 'cronjobs'
        ? workload?.spec?.jobTemplate?.spec?.template
        : WITH_TEMPLATE.has(plural)
          ? workload?.spec?.template
          : undefined;
  if (template?.spec === undefined) return undefined;
  return { spec: template.spec, annotations: template.metadata?.annotations ?? {} };
}
