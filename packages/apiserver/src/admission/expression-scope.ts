/** The types of what expressions of admission may look at. Objects of any kind have no type; the request has one. */
import { bool, type CelType, dyn, int, listOf, mapOf, string } from '../cel/types.ts';

function objectOf(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return { kind: 'object', name, fields: new Map(Object.entries(fields)) };
}

const timestamp: CelType = { kind: 'timestamp' };
const groupVersionKind = objectOf('kubernetes.GroupVersionKind', {
  group: string,
  version: string,
  kind: string,
});
const groupVersionResource = objectOf('kubernetes.GroupVersionResource', {
  group: string,
  version: string,
  resource: string,
});

const request = objectOf('kubernetes.AdmissionRequest', {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: string,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: objectOf('kubernetes.UserInfo', {
    username: string,
    uid: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
  }),
  dryRun: bool,
  options: dyn,
});

const namespaceObject = objectOf('kubernetes.Namespace', {
  metadata: objectOf('kubernetes.NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: int,
    deletionTimestamp: timestamp,
    generation: int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: listOf(string) }),
  status: objectOf('kubernetes.NamespaceStatus', { phase: string }),
});

export const baseScope: ReadonlyMap<string, CelType> = new Map([
  ['object', dyn],
  ['oldObject', dyn],
  ['request', request],
  ['namespaceObject', namespaceObject],
]);
