/** Labels of nodes that have another name by now: a pod that selects by the old one will find no node some day. */

import type { INodeSelectorTerm } from 'kubernetes-models/v1/NodeSelectorTerm';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';

const since = (version: string, label: string) => `deprecated since ${version}; use "${label}" instead`;
const renamed: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': since('v1.14', 'kubernetes.io/arch'),
  'beta.kubernetes.io/os': since('v1.14', 'kubernetes.io/os'),
  'failure-domain.beta.kubernetes.io/region': since('v1.17', 'topology.kubernetes.io/region'),
  'failure-domain.beta.kubernetes.io/zone': since('v1.17', 'topology.kubernetes.io/zone'),
  'beta.kubernetes.io/instance-type': since('v1.17', 'node.kubernetes.io/instance-type'),
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods':
    'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

export function nodeLabelWarning(label: string): string | undefined {
  return renamed[label];
}

export function nodeLabelWarnings({ nodeSelector = {}, affinity }: IPodSpec, path: string): string[] {
  const { nodeAffinity } = affinity ?? {};
  const at = `${path}.affinity.nodeAffinity`;
  return [
    ...Object.keys(nodeSelector).flatMap((label) => texts(label, `${path}.nodeSelector[${label}]`)),
    ...(nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).flatMap(
      (term, index) =>
        ofTerm(term, `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`),
    ),
    ...(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(
      ({ preference }, index) =>
        ofTerm(preference, `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`),
    ),
  ];
}

function ofTerm({ matchExpressions = [] }: INodeSelectorTerm, path: string): string[] {
  return matchExpressions.flatMap(({ key }, index) => {
    const text = nodeLabelWarning(key);
    return text === undefined ? [] : [`${path}.matchExpressions[${index}].key: ${key} is ${text}`];
  });
}

function texts(label: string, place: string): string[] {
  const text = nodeLabelWarning(label);
  return text === undefined ? [] : [`${place}: ${text}`];
}
