/** Namespaces: the finalizer that holds them while they have content, and the label that names them. */
import type { INamespace } from 'kubernetes-models/v1/Namespace';
import { fillNamespace } from '../housekeeping/namespace-content.ts';
import type { KubeObject } from '../types.ts';
import type { BuiltinHooks } from './define.ts';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const FINALIZER = 'kubernetes';

const namespace = (object: KubeObject) => object as unknown as INamespace;

function label(object: KubeObject): void {
  const { name } = object.metadata;
  if (name) object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: name };
}

export const namespaceHooks: BuiltinHooks = {
  default: label,
  prepareForCreate(object) {
    label(object);
    const it = namespace(object);
    const finalizers = it.spec?.finalizers ?? [];
    it.spec = { finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER] };
    it.status = { phase: 'Active' };
  },
  prepareForUpdate(object, old) {
    const { spec } = namespace(old);
    if (spec) namespace(object).spec = structuredClone(spec);
  },
  afterCreate(object, { parts }) {
    fillNamespace(parts, object.metadata.name ?? '');
  },
};
