/** Pod security standards are not enforced here. A namespace that asks for them is told so with every pod. */
import { type AdmissionPlugin, createdObject } from '../plugin.ts';

const LABEL = 'pod-security.kubernetes.io/enforce';

export const podSecurity: AdmissionPlugin = {
  name: 'PodSecurity',
  validate(attributes, { parts, warnings }) {
    if (createdObject(attributes, '', 'pods') === undefined) return;
    const level = parts.store.get('/namespaces', undefined, attributes.namespace)?.metadata.labels?.[LABEL];
    if (level !== undefined && level !== 'privileged')
      warnings.push(
        `the embedded API server does not enforce the pod security standard "${level}" of namespace "${attributes.namespace}"`,
      );
  },
};
