/** The kinds of the core group. */

import type { ResourceDefinition, Verb } from '../../resource/resource-definition.ts';
import { unsupported } from '../subresources/action-object.ts';
import { binding } from '../subresources/binding.ts';
import { eviction } from '../subresources/eviction.ts';
import { podLog } from '../subresources/pod-log.ts';
import { podAttach, podExec, podPortForward } from '../subresources/pod-streams.ts';
import { scaleOf } from '../subresources/scale.ts';
import { token } from '../subresources/token.ts';
import { configMapHooks, secretHooks } from './config-kinds.ts';
import { groupOf } from './define.ts';
import { coreEventHooks } from './event-kinds.ts';
import { limitRangeHooks } from './limit-range-kind.ts';
import { namespaceFinalize, namespaceHooks } from './namespace-kind.ts';
import { nodeHooks } from './node-kind.ts';
import { podHooks, podStatusHooks } from './pod/pod-hooks.ts';
import { resourceQuotaHooks } from './policy-kinds.ts';
import { eventFields, fieldTexts } from './selectable-fields.ts';
import { serviceHooks } from './service/service-hooks.ts';
import { serviceStatusHooks } from './service/validate-service-status.ts';
import { claimHooks, claimStatusHooks, volumeHooks, volumeStatusHooks } from './volume-kinds.ts';

const all = { categories: ['all'] };
const counts = { countsGeneration: true };
const cluster = { namespaced: false };
const put = { createOnUpdate: true };

export function coreResources(): ResourceDefinition[] {
  const of = groupOf('', 'v1');
  const namespaceVerbs: Verb[] = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
  return [
    of({ kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'], hooks: configMapHooks }),
    of({
      kind: 'Endpoints',
      plural: 'endpoints',
      singular: 'endpoints',
      shortNames: ['ep'],
      deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
      ...put,
    }),
    of({
      kind: 'Event',
      plural: 'events',
      shortNames: ['ev'],
      ...put,
      hooks: coreEventHooks,
      selectableFields: eventFields,
    }),
    of({ kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'], ...put, hooks: limitRangeHooks }),
    of({
      kind: 'Namespace',
      plural: 'namespaces',
      shortNames: ['ns'],
      ...cluster,
      verbs: namespaceVerbs,
      nameRule: 'label',
      status: true,
      hooks: namespaceHooks,
      subresources: { finalize: namespaceFinalize },
      selectableFields: fieldTexts('status.phase'),
    }),
    of({
      kind: 'Node',
      plural: 'nodes',
      shortNames: ['no'],
      ...cluster,
      status: true,
      keepsStatusOnCreate: true,
      hooks: nodeHooks,
      selectableFields: fieldTexts('spec.unschedulable'),
    }),
    of({
      kind: 'PersistentVolumeClaim',
      plural: 'persistentvolumeclaims',
      shortNames: ['pvc'],
      status: claimStatusHooks,
      hooks: claimHooks,
      deleteReturnsObject: true,
    }),
    of({
      kind: 'PersistentVolume',
      plural: 'persistentvolumes',
      shortNames: ['pv'],
      ...cluster,
      status: volumeStatusHooks,
      hooks: volumeHooks,
      deleteReturnsObject: true,
    }),
    of({
      kind: 'Pod',
      plural: 'pods',
      shortNames: ['po'],
      ...all,
      ...counts,
      deleteReturnsObject: true,
      status: podStatusHooks,
      subresources: {
        attach: podAttach,
        binding,
        ephemeralcontainers: unsupported('ephemeral containers', 'Pod', ['get', 'patch', 'update']),
        eviction,
        exec: podExec,
        log: podLog,
        portforward: podPortForward,
        proxy: unsupported('the proxy of pods', 'PodProxyOptions', [
          'create',
          'delete',
          'get',
          'patch',
          'update',
        ]),
        resize: unsupported('resizing pods in place', 'Pod', ['get', 'patch', 'update']),
      },
      hooks: podHooks,
      selectableFields: fieldTexts(
        'spec.nodeName',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'spec.hostNetwork',
        'status.phase',
        'status.podIP',
        'status.nominatedNodeName',
      ),
    }),
    of({ kind: 'PodTemplate', plural: 'podtemplates', ...counts }),
    of({
      kind: 'ReplicationController',
      plural: 'replicationcontrollers',
      shortNames: ['rc'],
      ...all,
      ...counts,
      status: true,
      subresources: { scale: scaleOf() },
    }),
    of({
      kind: 'ResourceQuota',
      plural: 'resourcequotas',
      shortNames: ['quota'],
      status: true,
      hooks: resourceQuotaHooks,
    }),
    of({ kind: 'Secret', plural: 'secrets', hooks: secretHooks, selectableFields: fieldTexts('type') }),
    of({
      kind: 'ServiceAccount',
      plural: 'serviceaccounts',
      shortNames: ['sa'],
      deleteReturnsObject: true,
      subresources: { token },
    }),
    of({
      kind: 'Service',
      plural: 'services',
      shortNames: ['svc'],
      ...all,
      nameRule: 'service',
      status: serviceStatusHooks,
      hooks: serviceHooks,
      deleteReturnsObject: true,
      selectableFields: fieldTexts('spec.clusterIP', 'spec.type'),
    }),
  ];
}
