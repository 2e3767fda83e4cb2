/** Nothing is made in a namespace that is not there or is going away, and some namespaces never go. */
import { forbidden, notFound } from '../../api/errors.ts';
import type { AdmissionPlugin } from '../plugin.ts';

const IMMORTAL = new Set(['default', 'kube-system', 'kube-public']);

export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  mutate({ operation, definition, namespace, name, subresource }, { parts }) {
    if (!definition.namespaced || operation === 'DELETE' || subresource !== '') return;
    const found = parts.store.get('/namespaces', undefined, namespace);
    if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    if (operation !== 'CREATE' || found.metadata.deletionTimestamp === undefined) return;
    throw forbidden(
      { group: definition.group, resource: definition.plural },
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  },
  validate({ operation, definition, name }) {
    if (
      operation === 'DELETE' &&
      definition.group === '' &&
      definition.plural === 'namespaces' &&
      IMMORTAL.has(name)
    )
      throw forbidden({ group: '', resource: 'namespaces' }, name, 'this namespace may not be deleted');
  },
};
