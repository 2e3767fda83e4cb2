/** Columns of network policies, ingresses and autoscalers. */
import type { KubeObject } from '../../api/types.ts';
import {
  ageColumn,
  at,
  type Column,
  column,
  listAt,
  nameColumn,
  numberAt,
  orNone,
  selectorColumn,
  textAt,
} from './columns.ts';

const networkPolicyColumns: readonly Column[] = [
  nameColumn,
  column('Pod-Selector', (policy) => selectorColumn(at(policy, 'spec', 'podSelector'))),
  ageColumn,
];

function hosts(ingress: KubeObject): string {
  const named = listAt(ingress, 'spec', 'rules')
    .map((rule) => textAt(rule, 'host'))
    .filter((host) => host !== '');
  const shown = named.slice(0, 3).join(',');
  if (named.length === 0) return '*';
  return named.length > 3 ? `${shown} + ${named.length - 3} more...` : shown;
}

function balancers(object: KubeObject): string {
  return listAt(object, 'status', 'loadBalancer', 'ingress')
    .map((each) => textAt(each, 'ip') || textAt(each, 'hostname'))
    .filter((address) => address !== '')
    .join(',');
}

const ingressColumns: readonly Column[] = [
  nameColumn,
  column('Class', (ingress) => orNone(textAt(ingress, 'spec', 'ingressClassName'))),
  column('Hosts', hosts),
  column('Address', balancers),
  column('Ports', (ingress) => (listAt(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
  ageColumn,
];

/** Current and desired value of a metric; the current one is unknown without a controller. */
function targets(autoscaler: KubeObject): string {
  const wanted = listAt(autoscaler, 'spec', 'metrics').flatMap((metric) => {
    const target = at(metric, 'resource', 'target');
    const name = textAt(metric, 'resource', 'name');
    if (name === '') return ['<unknown>'];
    const share = textAt(target, 'averageUtilization');
    return [`${name}: <unknown>/${share === '' ? textAt(target, 'averageValue') || '<auto>' : `${share}%`}`];
  });
  return wanted.length === 0 ? '<none>' : wanted.join(', ');
}

const autoscalerColumns: readonly Column[] = [
  nameColumn,
  column(
    'Reference',
    (object) =>
      `${textAt(object, 'spec', 'scaleTargetRef', 'kind')}/${textAt(object, 'spec', 'scaleTargetRef', 'name')}`,
  ),
  column('Targets', targets),
  column('MinPods', (object) => textAt(object, 'spec', 'minReplicas') || '1'),
  column('MaxPods', (object) => numberAt(object, 'spec', 'maxReplicas')),
  column('Replicas', (object) => numberAt(object, 'status', 'currentReplicas')),
  ageColumn,
];

export const networkColumns: Readonly<Record<string, readonly Column[]>> = {
  NetworkPolicy: networkPolicyColumns,
  Ingress: ingressColumns,
  HorizontalPodAutoscaler: autoscalerColumns,
};
