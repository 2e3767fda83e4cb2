/** What every namespace is given: the service account that pods run as, and the CA they trust the server by. */

import { type KubeObject, timestamp } from '../api/types.ts';
import { updateManagedFields } from '../apply/field-manager.ts';
import type { ServerParts } from '../resource/request-context.ts';

const ROOT_CA = 'kube-root-ca.crt';
const ROOT_CA_DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Puts a deleted ServiceAccount `default` or root CA back, as the controllers of a cluster do, unless the namespace is going. */
export function keepNamespacesFilled(parts: ServerParts): void {
  parts.store.subscribe(({ type, resource, object }) => {
    const { name, namespace } = object.metadata;
    if (type !== 'DELETED' || namespace === undefined) return;
    if (name !== (resource === '/serviceaccounts' ? 'default' : resource === '/configmaps' ? ROOT_CA : ''))
      return;
    setImmediate(() => {
      const holder = parts.store.get('/namespaces', undefined, namespace);
      if (holder !== undefined && holder.metadata.deletionTimestamp === undefined)
        fillNamespace(parts, namespace);
    });
  });
}

/** Stores what is missing; what is there is left alone. */
export function fillNamespace(parts: ServerParts, namespace: string): void {
  store(parts, '/serviceaccounts', {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    metadata: { name: 'default', namespace },
  });
  store(parts, '/configmaps', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: ROOT_CA, namespace, annotations: { 'kubernetes.io/description': ROOT_CA_DESCRIPTION } },
    data: { 'ca.crt': parts.authority.certificatePem },
  });
}

function store(parts: ServerParts, resource: string, object: KubeObject): void {
  const { name = '', namespace } = object.metadata;
  if (parts.store.get(resource, namespace, name) !== undefined) return;
  const definition = parts.registry.find('', 'v1', resource.slice(1));
  if (definition === undefined) return;
  const { environment } = parts;
  const time = timestamp(environment.now());
  object.metadata.uid = environment.uuid();
  object.metadata.creationTimestamp = time;
  const managed = updateManagedFields(parts.registry, undefined, object, {
    definition,
    subresource: '',
    manager: 'kube-controller-manager',
    apiVersion: 'v1',
    time,
  });
  parts.store.create(resource, managed);
}
