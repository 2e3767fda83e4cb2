/** The built-in kinds that are served, group by group. */
import { expressionFault } from '../../admission/expression.ts';
import type { ResourceDefinition } from '../../resource/resource-definition.ts';
import { scaleOf } from '../subresources/scale.ts';
import { accessReviews } from './access-reviews.ts';
import { admissionPolicyBindingHooks, admissionPolicyHooks } from './admission-policy-kinds.ts';
import { coreResources } from './core-resources.ts';
import { groupOf } from './define.ts';
import { disruptionBudgetHooks, disruptionBudgetStatusHooks } from './disruption-budget-kind.ts';
import { eventsGroupHooks, fromCoreEvent, toCoreEvent } from './event-kinds.ts';
import { ingressHooks } from './ingress-kind.ts';
import { networkPolicyHooks } from './network-policy-kind.ts';
import { endpointSliceHooks, leaseHooks, priorityClassHooks } from './policy-kinds.ts';
import { clusterRoleBindingHooks, clusterRoleHooks, roleBindingHooks, roleHooks } from './rbac-kinds.ts';
import { jobFields, newEventFields } from './selectable-fields.ts';
import { storageClassHooks } from './volume-kinds.ts';
import { webhookConfigurationHooks } from './webhook-kinds.ts';
import { deploymentHooks, deploymentStatusHooks } from './workloads/deployment.ts';
import { cronJobHooks, jobHooks } from './workloads/jobs.ts';
import {
  controllerRevisionHooks,
  daemonSetHooks,
  daemonSetStatusHooks,
  replicaSetHooks,
  replicaSetStatusHooks,
} from './workloads/other-workloads.ts';
import { statefulSetHooks, statefulSetStatusHooks } from './workloads/stateful-set.ts';

const all = { categories: ['all'] };
const counts = { countsGeneration: true };
const cluster = { namespaced: false };
const put = { createOnUpdate: true };
const extensions = { categories: ['api-extensions'] };

export function builtinResources(): ResourceDefinition[] {
  return [
    ...coreResources(),
    ...apps(),
    ...events(),
    ...accessReviews(),
    ...batch(),
    ...networking(),
    ...policy(),
    ...rbac(),
    ...storage(),
    ...admissionRegistration(),
    ...apiExtensions(),
    ...others(),
  ];
}

function apps(): ResourceDefinition[] {
  const of = groupOf('apps', 'v1');
  const scale = { subresources: { scale: scaleOf() } };
  return [
    of({ kind: 'ControllerRevision', plural: 'controllerrevisions', hooks: controllerRevisionHooks }),
    of({
      kind: 'DaemonSet',
      plural: 'daemonsets',
      shortNames: ['ds'],
      ...all,
      ...counts,
      status: daemonSetStatusHooks,
      hooks: daemonSetHooks,
    }),
    of({
      kind: 'Deployment',
      plural: 'deployments',
      shortNames: ['deploy'],
      ...all,
      ...counts,
      status: deploymentStatusHooks,
      hooks: deploymentHooks,
      ...scale,
    }),
    of({
      kind: 'ReplicaSet',
      plural: 'replicasets',
      shortNames: ['rs'],
      ...all,
      ...counts,
      status: replicaSetStatusHooks,
      hooks: replicaSetHooks,
      ...scale,
    }),
    of({
      kind: 'StatefulSet',
      plural: 'statefulsets',
      shortNames: ['sts'],
      // Its pods have the name as a part of their host name.
      nameRule: 'label',
      ...all,
      ...counts,
      status: statefulSetStatusHooks,
      hooks: statefulSetHooks,
      ...scale,
    }),
  ];
}

function events(): ResourceDefinition[] {
  const of = groupOf('events.k8s.io', 'v1');
  return [
    of({
      kind: 'Event',
      plural: 'events',
      shortNames: ['ev'],
      ...put,
      hooks: eventsGroupHooks,
      storage: '/events',
      selectableFields: newEventFields,
      fromStorage: fromCoreEvent,
      toStorage: toCoreEvent,
    }),
  ];
}

function batch(): ResourceDefinition[] {
  const of = groupOf('batch', 'v1');
  return [
    of({
      kind: 'CronJob',
      plural: 'cronjobs',
      shortNames: ['cj'],
      ...all,
      ...counts,
      status: true,
      hooks: cronJobHooks,
    }),
    of({
      kind: 'Job',
      plural: 'jobs',
      ...all,
      ...counts,
      status: true,
      hooks: jobHooks,
      selectableFields: jobFields,
    }),
  ];
}

function networking(): ResourceDefinition[] {
  const of = groupOf('networking.k8s.io', 'v1');
  return [
    of({ kind: 'IngressClass', plural: 'ingressclasses', ...cluster, ...counts }),
    of({
      kind: 'Ingress',
      plural: 'ingresses',
      shortNames: ['ing'],
      ...counts,
      status: true,
      hooks: ingressHooks,
    }),
    of({
      kind: 'NetworkPolicy',
      plural: 'networkpolicies',
      shortNames: ['netpol'],
      ...counts,
      hooks: networkPolicyHooks,
    }),
  ];
}

function policy(): ResourceDefinition[] {
  const of = groupOf('policy', 'v1');
  return [
    of({
      kind: 'PodDisruptionBudget',
      plural: 'poddisruptionbudgets',
      shortNames: ['pdb'],
      ...counts,
      status: disruptionBudgetStatusHooks,
      hooks: disruptionBudgetHooks,
    }),
  ];
}

function rbac(): ResourceDefinition[] {
  const of = groupOf('rbac.authorization.k8s.io', 'v1');
  const path = { nameRule: 'path', ...put } as const;
  return [
    of({
      kind: 'ClusterRoleBinding',
      plural: 'clusterrolebindings',
      ...cluster,
      ...path,
      hooks: clusterRoleBindingHooks,
    }),
    of({ kind: 'ClusterRole', plural: 'clusterroles', ...cluster, ...path, hooks: clusterRoleHooks }),
    of({ kind: 'RoleBinding', plural: 'rolebindings', ...path, hooks: roleBindingHooks }),
    of({ kind: 'Role', plural: 'roles', ...path, hooks: roleHooks }),
  ];
}

function storage(): ResourceDefinition[] {
  const of = groupOf('storage.k8s.io', 'v1');
  return [
    of({
      kind: 'StorageClass',
      plural: 'storageclasses',
      shortNames: ['sc'],
      ...cluster,
      hooks: storageClassHooks,
      deleteReturnsObject: true,
    }),
  ];
}

function admissionRegistration(): ResourceDefinition[] {
  const of = groupOf('admissionregistration.k8s.io', 'v1');
  const common = { ...cluster, ...counts, ...extensions };
  return [
    of({
      kind: 'MutatingWebhookConfiguration',
      plural: 'mutatingwebhookconfigurations',
      ...common,
      hooks: webhookConfigurationHooks(true, expressionFault),
    }),
    of({
      kind: 'ValidatingAdmissionPolicy',
      plural: 'validatingadmissionpolicies',
      singular: 'validatingadmissionpolicy',
      ...common,
      status: true,
      hooks: admissionPolicyHooks(expressionFault),
    }),
    of({
      kind: 'ValidatingAdmissionPolicyBinding',
      plural: 'validatingadmissionpolicybindings',
      ...common,
      hooks: admissionPolicyBindingHooks,
    }),
    of({
      kind: 'ValidatingWebhookConfiguration',
      plural: 'validatingwebhookconfigurations',
      ...common,
      hooks: webhookConfigurationHooks(false, expressionFault),
    }),
  ];
}

/** Only named here: what a definition means is told by the room of custom resources. */
function apiExtensions(): ResourceDefinition[] {
  const of = groupOf('apiextensions.k8s.io', 'v1');
  return [
    of({
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
      shortNames: ['crd', 'crds'],
      ...cluster,
      ...counts,
      ...extensions,
      status: true,
    }),
  ];
}

function others(): ResourceDefinition[] {
  return [
    groupOf(
      'autoscaling',
      'v2',
    )({
      kind: 'HorizontalPodAutoscaler',
      plural: 'horizontalpodautoscalers',
      shortNames: ['hpa'],
      ...all,
      status: true,
    }),
    groupOf(
      'scheduling.k8s.io',
      'v1',
    )({
      kind: 'PriorityClass',
      plural: 'priorityclasses',
      shortNames: ['pc'],
      ...cluster,
      hooks: priorityClassHooks,
    }),
    groupOf('coordination.k8s.io', 'v1')({ kind: 'Lease', plural: 'leases', ...put, hooks: leaseHooks }),
    groupOf(
      'discovery.k8s.io',
      'v1',
    )({
      kind: 'EndpointSlice',
      plural: 'endpointslices',
      ...counts,
      hooks: endpointSliceHooks,
    }),
  ];
}
