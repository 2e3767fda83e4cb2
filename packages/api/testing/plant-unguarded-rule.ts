/** The NodeSet definition with the fault that kept it from being installed on Kubernetes 1.36. */
import { type CustomResourceDefinition, customResourceDefinition } from '../src/schema/crd.ts';
import { definitionOf } from './fixtures.ts';

/** A rule of `updateStrategy` reads `type`, which its default `{}` does not have: only a nested default fills it in. */
export function plantUnguardedRule(): CustomResourceDefinition {
  const crd = structuredClone(customResourceDefinition(definitionOf('NodeSet')));
  const spec = crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'];
  const rule = spec?.properties?.['updateStrategy']?.['x-kubernetes-validations']?.[0];
  if (rule === undefined) throw new Error('NodeSet.spec.updateStrategy has no rule to change');
  Object.assign(rule, { rule: rule.rule.replace(/^!has\(self\.type\) \|\| /, '') });
  return crd;
}
