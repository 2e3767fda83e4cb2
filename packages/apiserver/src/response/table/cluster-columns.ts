/** Columns of nodes, networks, storage, rights and the rest. */

import type { KubeObject } from '../../api/types.ts';
import { descriptions } from '../../schema/generated/descriptions.ts';
import {
  ageColumn,
  at,
  type Column,
  column,
  countAt,
  createdAtColumn,
  listAt,
  nameColumn,
  numberAt,
  orNone,
  selectorColumn,
  textAt,
} from './columns.ts';
import { ageOf } from './human-duration.ts';

function nodeStatus(node: KubeObject): string {
  const ready = listAt(node, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'Ready',
  );
  const word = ready === undefined ? 'Unknown' : textAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return at(node, 'spec', 'unschedulable') === true ? `${word},SchedulingDisabled` : word;
}

function roles({ metadata }: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/';
  const found = Object.keys(metadata.labels ?? {}).filter((key) => key.startsWith(prefix));
  return orNone(
    found
      .map((key) => key.slice(prefix.length))
      .toSorted()
      .join(','),
  );
}

function address(type: string): (node: KubeObject) => string {
  return (node) =>
    orNone(
      textAt(
        listAt(node, 'status', 'addresses').find((each) => textAt(each, 'type') === type),
        'address',
      ),
    );
}

function info(name: string, field: string): Column {
  return column(name, (node) => textAt(node, 'status', 'nodeInfo', field) || '<unknown>', { wide: true });
}

const nodeColumns: readonly Column[] = [
  nameColumn,
  column('Status', nodeStatus),
  column('Roles', roles),
  ageColumn,
  column('Version', (node) => textAt(node, 'status', 'nodeInfo', 'kubeletVersion')),
  column('Internal-IP', address('InternalIP'), { wide: true }),
  column('External-IP', address('ExternalIP'), { wide: true }),
  info('OS-Image', 'osImage'),
  info('Kernel-Version', 'kernelVersion'),
  info('Container-Runtime', 'containerRuntimeVersion'),
];

function servicePorts(service: KubeObject): string {
  const shown = listAt(service, 'spec', 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    return `${numberAt(port, 'port')}${nodePort === 0 ? '' : `:${nodePort}`}/${textAt(port, 'protocol')}`;
  });
  return orNone(shown.join(','));
}

function externalIp(service: KubeObject): string {
  const type = textAt(service, 'spec', 'type');
  if (type === 'ExternalName') return textAt(service, 'spec', 'externalName');
  const given = listAt(service, 'spec', 'externalIPs').map(String);
  const balanced = listAt(service, 'status', 'loadBalancer', 'ingress').map(
    (each) => textAt(each, 'ip') || textAt(each, 'hostname'),
  );
  const all = type === 'LoadBalancer' ? [...balanced, ...given] : given;
  if (all.length > 0) return all.join(',');
  return type === 'LoadBalancer' ? '<pending>' : '<none>';
}

const serviceColumns: readonly Column[] = [
  nameColumn,
  column('Type', (service) => textAt(service, 'spec', 'type')),
  column('Cluster-IP', (service) => orNone(textAt(service, 'spec', 'clusterIP'))),
  column('External-IP', externalIp),
  column('Port(s)', servicePorts),
  ageColumn,
  column('Selector', (service) => selectorColumn(at(service, 'spec', 'selector')), { wide: true }),
];

function accessModes(object: KubeObject, part: 'spec' | 'status'): string {
  const short: Record<string, string> = {
    ReadWriteOnce: 'RWO',
    ReadOnlyMany: 'ROX',
    ReadWriteMany: 'RWX',
    ReadWriteOncePod: 'RWOP',
  };
  return [...new Set(listAt(object, part, 'accessModes').map(String))]
    .map((mode) => short[mode] ?? mode)
    .toSorted((a, b) => modeOrder.indexOf(a) - modeOrder.indexOf(b))
    .join(',');
}

const modeOrder = ['RWO', 'ROX', 'RWX', 'RWOP'];

const phase = (object: KubeObject): string =>
  object.metadata.deletionTimestamp === undefined ? textAt(object, 'status', 'phase') : 'Terminating';

const isBound = (claim: KubeObject): boolean => textAt(claim, 'spec', 'volumeName') !== '';

const attributesClassColumn = column(
  'VolumeAttributesClass',
  (object) => textAt(object, 'spec', 'volumeAttributesClassName') || '<unset>',
);
const volumeModeColumn = column('VolumeMode', (object) => textAt(object, 'spec', 'volumeMode') || '<unset>', {
  wide: true,
});

/** What a claim has, it has of its volume. */
const claimColumns: readonly Column[] = [
  nameColumn,
  column('Status', phase),
  column('Volume', (claim) => textAt(claim, 'spec', 'volumeName')),
  column('Capacity', (claim) =>
    isBound(claim) ? textAt(claim, 'status', 'capacity', 'storage') || '0' : '',
  ),
  column('Access Modes', (claim) => (isBound(claim) ? accessModes(claim, 'status') : '')),
  column('StorageClass', (claim) => textAt(claim, 'spec', 'storageClassName')),
  attributesClassColumn,
  ageColumn,
  volumeModeColumn,
];

const volumeColumns: readonly Column[] = [
  nameColumn,
  column('Capacity', (volume) => textAt(volume, 'spec', 'capacity', 'storage')),
  column('Access Modes', (volume) => accessModes(volume, 'spec')),
  column('Reclaim Policy', (volume) => textAt(volume, 'spec', 'persistentVolumeReclaimPolicy')),
  column('Status', phase),
  column('Claim', (volume) => {
    const name = textAt(volume, 'spec', 'claimRef', 'name');
    return name === '' ? '' : `${textAt(volume, 'spec', 'claimRef', 'namespace')}/${name}`;
  }),
  column('StorageClass', (volume) => textAt(volume, 'spec', 'storageClassName')),
  attributesClassColumn,
  column('Reason', (volume) => textAt(volume, 'status', 'reason')),
  ageColumn,
  volumeModeColumn,
];

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** The default class is marked beside its name. */
const classNameColumn: Column = {
  ...nameColumn,
  cell: ({ metadata }) =>
    `${metadata.name ?? ''}${metadata.annotations?.[DEFAULT_CLASS] === 'true' ? ' (default)' : ''}`,
};

const policyColumns: readonly Column[] = [
  nameColumn,
  column('Validations', (policy) => listAt(policy, 'spec', 'validations').length, { type: 'integer' }),
  column('ParamKind', (policy) => {
    const kind = textAt(policy, 'spec', 'paramKind', 'kind');
    return kind === '' ? '<unset>' : `${textAt(policy, 'spec', 'paramKind', 'apiVersion')}/${kind}`;
  }),
  ageColumn,
];

const policyBindingColumns: readonly Column[] = [
  nameColumn,
  column('PolicyName', (binding) => textAt(binding, 'spec', 'policyName')),
  column('ParamRef', (binding) => textAt(binding, 'spec', 'paramRef', 'name') || '<unset>'),
  ageColumn,
];

function eventTime(event: KubeObject, now: number): string {
  const last =
    textAt(event, 'series', 'lastObservedTime') ||
    textAt(event, 'lastTimestamp') ||
    textAt(event, 'deprecatedLastTimestamp');
  return ageOf(last || textAt(event, 'eventTime') || event.metadata.creationTimestamp, now);
}

function eventBegin(event: KubeObject, now: number): string {
  const first = textAt(event, 'firstTimestamp') || textAt(event, 'deprecatedFirstTimestamp');
  return ageOf(first || textAt(event, 'eventTime') || event.metadata.creationTimestamp, now);
}

function eventCount(event: KubeObject): number {
  const series = numberAt(event, 'series', 'count');
  return series || numberAt(event, 'count') || numberAt(event, 'deprecatedCount') || 1;
}

function eventSource(event: KubeObject): string {
  const source = at(event, 'source') ?? at(event, 'deprecatedSource');
  const component =
    textAt(source, 'component') ||
    textAt(event, 'reportingComponent') ||
    textAt(event, 'reportingController');
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return [component, host].filter((part) => part !== '').join(', ');
}

function eventAbout(event: KubeObject): unknown {
  return at(event, 'involvedObject') ?? at(event, 'regarding');
}

function eventObject(event: KubeObject): string {
  const about = eventAbout(event);
  return `${textAt(about, 'kind').toLowerCase()}/${textAt(about, 'name')}`;
}

const eventColumns: readonly Column[] = [
  column('Last Seen', eventTime),
  column('Type', (event) => textAt(event, 'type')),
  column('Reason', (event) => textAt(event, 'reason')),
  column('Object', eventObject),
  column('Subobject', (event) => textAt(eventAbout(event), 'fieldPath'), { wide: true }),
  column('Source', eventSource, { wide: true }),
  column('Message', (event) => (textAt(event, 'message') || textAt(event, 'note')).trim()),
  column('First Seen', eventBegin, { wide: true }),
  column('Count', eventCount, { wide: true }),
  column('Name', ({ metadata }) => metadata.name ?? '', { wide: true, format: 'name' }),
];

const budgetColumns: readonly Column[] = [
  nameColumn,
  column('Min Available', (budget) => textAt(budget, 'spec', 'minAvailable') || 'N/A'),
  column('Max Unavailable', (budget) => textAt(budget, 'spec', 'maxUnavailable') || 'N/A'),
  column('Allowed Disruptions', (budget) => numberAt(budget, 'status', 'disruptionsAllowed'), {
    type: 'integer',
  }),
  ageColumn,
];

function bindingRole(binding: KubeObject): string {
  return `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`;
}

function subjects(kind: string): (binding: KubeObject) => string {
  return (binding) =>
    listAt(binding, 'subjects')
      .filter((subject) => textAt(subject, 'kind') === kind)
      .map((subject) => [textAt(subject, 'namespace'), textAt(subject, 'name')].filter(Boolean).join('/'))
      .join(', ');
}

const bindingColumns: readonly Column[] = [
  nameColumn,
  column('Role', bindingRole),
  ageColumn,
  column('Users', subjects('User'), { wide: true }),
  column('Groups', subjects('Group'), { wide: true }),
  column('ServiceAccounts', subjects('ServiceAccount'), { wide: true }),
];

const webhookColumns: readonly Column[] = [
  nameColumn,
  column('Webhooks', (object) => listAt(object, 'webhooks').length, { type: 'integer' }),
  ageColumn,
];

function sliceEndpoints(slice: KubeObject): string {
  const all = listAt(slice, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses').map(String));
  const shown = all.slice(0, 3).join(',');
  return (all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown) || '<unset>';
}

function slicePorts(slice: KubeObject): string {
  const all = listAt(slice, 'ports').map((port) => textAt(port, 'port') || textAt(port, 'name') || '*');
  const shown = all.slice(0, 3).join(',');
  return (all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown) || '<unset>';
}

export const clusterColumns: Readonly<Record<string, readonly Column[]>> = {
  ConfigMap: [
    nameColumn,
    column('Data', (object) => countAt(object, 'data') + countAt(object, 'binaryData'), {
      description: descriptions['V1ConfigMap.data'],
    }),
    ageColumn,
  ],
  Secret: [
    nameColumn,
    column('Type', (object) => textAt(object, 'type')),
    column('Data', (object) => countAt(object, 'data')),
    ageColumn,
  ],
  Service: serviceColumns,
  Namespace: [nameColumn, column('Status', (object) => textAt(object, 'status', 'phase')), ageColumn],
  Node: nodeColumns,
  PersistentVolumeClaim: claimColumns,
  PersistentVolume: volumeColumns,
  Event: eventColumns,
  PodDisruptionBudget: budgetColumns,
  Lease: [nameColumn, column('Holder', (object) => textAt(object, 'spec', 'holderIdentity')), ageColumn],
  EndpointSlice: [
    nameColumn,
    column('AddressType', (object) => textAt(object, 'addressType')),
    column('Ports', slicePorts),
    column('Endpoints', sliceEndpoints),
    ageColumn,
  ],
  StorageClass: [
    classNameColumn,
    column('Provisioner', (object) => textAt(object, 'provisioner')),
    column('ReclaimPolicy', (object) => textAt(object, 'reclaimPolicy')),
    column('VolumeBindingMode', (object) => textAt(object, 'volumeBindingMode')),
    column('AllowVolumeExpansion', (object) => at(object, 'allowVolumeExpansion') === true),
    ageColumn,
  ],
  PriorityClass: [
    nameColumn,
    column('Value', (object) => numberAt(object, 'value'), { type: 'integer' }),
    column('Global-Default', (object) => at(object, 'globalDefault') === true, { type: 'boolean' }),
    ageColumn,
    column('PreemptionPolicy', (object) => textAt(object, 'preemptionPolicy')),
  ],
  Role: [nameColumn, createdAtColumn],
  ClusterRole: [nameColumn, createdAtColumn],
  RoleBinding: bindingColumns,
  ClusterRoleBinding: bindingColumns,
  MutatingWebhookConfiguration: webhookColumns,
  ValidatingWebhookConfiguration: webhookColumns,
  ValidatingAdmissionPolicy: policyColumns,
  ValidatingAdmissionPolicyBinding: policyBindingColumns,
  CustomResourceDefinition: [nameColumn, createdAtColumn],
  LimitRange: [nameColumn, createdAtColumn],
};
