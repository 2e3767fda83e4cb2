/** Pod security standards, as the labels of a namespace ask for them. Each is evaluated by its newest version. */
import { forbidden, invalid } from '../../api/errors.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.ts';
import { labelFaults, tighteningWarnings } from '../pod-security/namespace-labels.ts';
import { containersOf, type PodView } from '../pod-security/pod-view.ts';
import { type Mode, PREFIX, podOf, policyOf } from '../pod-security/policy.ts';
import { violations } from '../pod-security/violations.ts';

const BUILT_IN = new Set(['', 'apps', 'batch']);

export const podSecurity: AdmissionPlugin = {
  name: 'PodSecurity',
  validate(attributes, context) {
    const { definition, object, subresource } = attributes;
    if (object === undefined || subresource !== '' || !BUILT_IN.has(definition.group)) return;
    if (definition.plural === 'namespaces') checkNamespace(attributes, context);
    else {
      const pod = podOf(definition.plural, object);
      if (pod !== undefined) checkPod(pod, attributes, context);
    }
  },
};

function checkPod(pod: PodView, attributes: AdmissionAttributes, context: RequestContext): void {
  const { definition, operation, oldObject, namespace: name } = attributes;
  const isPod = definition.plural === 'pods';
  // Of what a standard looks at only the images of a running pod can change.
  if (isPod && operation === 'UPDATE' && images(pod) === images(podOf('pods', oldObject))) return;
  const namespace = context.parts.store.get('/namespaces', undefined, name);
  if (namespace === undefined) return;
  const found = (mode: Mode): string | undefined => {
    const { level, text } = policyOf(namespace, mode);
    const list = violations(level, pod);
    return list.length === 0 ? undefined : `PodSecurity "${text}": ${list.join(', ')}`;
  };
  const denial = isPod ? found('enforce') : undefined;
  if (denial !== undefined)
    throw forbidden({ group: '', resource: 'pods' }, attributes.name, `violates ${denial}`);
  const warning = found('warn');
  if (warning !== undefined) context.warnings.push(`would violate ${warning}`);
  const note = found('audit');
  if (note !== undefined) context.annotations[`${PREFIX}audit-violations`] = `would violate ${note}`;
}

function images(pod: PodView | undefined): string {
  return pod === undefined ? '' : JSON.stringify(containersOf(pod).map((one) => [one.name, one.image]));
}

function checkNamespace(
  { name, object, oldObject }: AdmissionAttributes,
  { parts, warnings }: RequestContext,
): void {
  if (object === undefined) return;
  const faults = labelFaults(object);
  if (faults.length > 0) throw invalid({ group: '', kind: 'Namespace' }, name, faults);
  if (oldObject !== undefined)
    warnings.push(...tighteningWarnings(oldObject, object, parts.store.list('/pods', name)));
}
