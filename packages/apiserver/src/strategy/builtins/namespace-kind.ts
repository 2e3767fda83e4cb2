/** Namespaces: the finalizer that holds them while they have content, and the label that names them. */

import { qualifiedName } from '@slurm-operator/kubernetes-values';
import type { INamespace } from 'kubernetes-models/v1/Namespace';
import { invalidValue } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import { fillNamespace } from '../../housekeeping/namespace-content.ts';
import type { PartSubresource } from '../../resource/resource-definition.ts';
import type { BuiltinHooks } from './define.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const FINALIZER = 'kubernetes';

const namespace = (object: KubeObject) => typed<INamespace>(object);

function label(object: KubeObject): void {
  const { name } = object.metadata;
  if (name) object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: name };
}

/** PUT /finalize changes spec.finalizers and nothing else; the last one to go lets the namespace go. */
export const namespaceFinalize: PartSubresource = {
  type: 'part',
  verbs: ['update'],
  hooks: {
    prepareForUpdate(object, old) {
      const { finalizers = [] } = namespace(object).spec ?? {};
      const { managedFields } = object.metadata;
      for (const key of Object.keys(object)) delete object[key];
      Object.assign(object, structuredClone(old));
      namespace(object).spec = finalizers.length === 0 ? {} : { finalizers: [...finalizers] };
      if (managedFields !== undefined) object.metadata.managedFields = managedFields;
    },
  },
};

export const namespaceHooks: BuiltinHooks = {
  default: label,
  prepareForCreate(object) {
    label(object);
    const it = namespace(object);
    const finalizers = it.spec?.finalizers ?? [];
    it.spec = { finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER] };
    it.status = { phase: 'Active' };
  },
  validate(object) {
    return (namespace(object).spec?.finalizers ?? []).flatMap((name) => [
      ...qualifiedName(name).map((text) => invalidValue('spec.finalizers', name, text)),
      ...(name.includes('/') || name === FINALIZER
        ? []
        : [
            invalidValue(
              'spec.finalizers',
              name,
              'name is neither a standard finalizer name nor is it fully qualified',
            ),
          ]),
    ]);
  },
  prepareForUpdate(object, old) {
    const { spec } = namespace(old);
    if (spec) namespace(object).spec = structuredClone(spec);
  },
  prepareForDelete(object) {
    // A namespace is being deleted until its content is gone; it has no grace period.
    delete object.metadata.deletionGracePeriodSeconds;
    namespace(object).status = { ...namespace(object).status, phase: 'Terminating' };
  },
  holds: (object) => (namespace(object).spec?.finalizers ?? []).length > 0,
  afterCreate(object, { parts }) {
    fillNamespace(parts, object.metadata.name ?? '');
  },
};
