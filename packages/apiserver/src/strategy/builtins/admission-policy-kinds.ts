/** Validating admission policies and their bindings: defaults and rules. */

import { dnsSubdomain } from '@slurm-operator/kubernetes-values';
import type { IValidatingAdmissionPolicy } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy';
import type { IValidatingAdmissionPolicyBinding } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding';
import {
  type ExpressionCheck,
  enumFault,
  validateMatchConditions,
  validateRule,
} from '../../admission/admission-rules.ts';
import { type FieldFault, notImplemented } from '../../api/errors.ts';
import { duplicate, invalidValue, notSupported, required } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { BuiltinHooks } from './define.ts';
import { validateLabelSelector } from './label-selector-rules.ts';

type PolicySpec = Partial<NonNullable<IValidatingAdmissionPolicy['spec']>>;
type MatchResources = NonNullable<PolicySpec['matchConstraints']>;
type Validation = Partial<NonNullable<PolicySpec['validations']>[number]>;
type Variable = NonNullable<PolicySpec['variables']>[number];

function defaultMatch(match: MatchResources | undefined): void {
  if (!match) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])])
    rule.scope ??= '*';
}

export function admissionPolicyHooks(check: ExpressionCheck): BuiltinHooks {
  return {
    default(object) {
      const { spec } = typed<Partial<IValidatingAdmissionPolicy>>(object);
      if (!spec) return;
      spec.failurePolicy ??= 'Fail';
      defaultMatch(spec.matchConstraints);
    },
    validate(object) {
      const { spec = {} } = typed<{ spec?: PolicySpec }>(object);
      if (spec.paramKind) throw notImplemented('parameters of admission policies');
      const faults = policyFaults(spec, check);
      if (faults.length === 0 && spec.auditAnnotations?.length)
        throw notImplemented('audit annotations of admission policies');
      return faults;
    },
  };
}

function policyFaults(spec: PolicySpec, check: ExpressionCheck): FieldFault[] {
  const { matchConstraints: match, variables = [], validations = [], auditAnnotations = [] } = spec;
  const faults = enumFault(spec.failurePolicy, 'spec.failurePolicy', ['Fail', 'Ignore']);
  if (!match) faults.push(required('spec.matchConstraints'));
  else {
    faults.push(...matchFaults(match, 'spec.matchConstraints'));
    if (!match.resourceRules?.length) faults.push(required('spec.matchConstraints.resourceRules'));
  }
  faults.push(...validateMatchConditions(spec.matchConditions ?? [], 'spec.matchConditions', check));
  const known = new Map<string, unknown>();
  for (const [index, variable] of variables.entries())
    faults.push(...variableFaults(variable, `spec.variables[${index}]`, check, known));
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item';
    return [...faults, required('spec.validations', detail), required('spec.auditAnnotations', detail)];
  }
  for (const [index, validation] of validations.entries())
    faults.push(...validationFaults(validation, `spec.validations[${index}]`, check, known));
  return faults;
}

function matchFaults(match: MatchResources, at: string): FieldFault[] {
  const rules = (name: 'resourceRules' | 'excludeResourceRules'): FieldFault[] =>
    (match[name] ?? []).flatMap((rule, index) => [
      ...resourceNameFaults(rule.resourceNames ?? [], `${at}.${name}[${index}].resourceNames`),
      ...validateRule(rule, `${at}.${name}[${index}]`),
    ]);
  return [
    ...enumFault(match.matchPolicy, `${at}.matchPolicy`, ['Equivalent', 'Exact']),
    ...validateLabelSelector(match.namespaceSelector, `${at}.namespaceSelector`),
    ...validateLabelSelector(match.objectSelector, `${at}.objectSelector`),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ];
}

function resourceNameFaults(names: readonly string[], at: string): FieldFault[] {
  return names.flatMap((name, index) => {
    const faults: FieldFault[] = [];
    if (name === '.' || name === '..')
      faults.push(invalidValue(`${at}[${index}]`, name, `may not be '${name}'`));
    for (const character of ['/', '%'])
      if (name.includes(character))
        faults.push(invalidValue(`${at}[${index}]`, name, `may not contain '${character}'`));
    if (names.indexOf(name) < index) faults.push(duplicate(`${at}[${index}]`, name));
    return faults;
  });
}

function variableFaults(
  { name, expression }: Variable,
  at: string,
  check: ExpressionCheck,
  known: Map<string, unknown>,
): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!name?.trim()) faults.push(required(`${at}.name`, 'name is not specified'));
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name))
    faults.push(invalidValue(`${at}.name`, name, 'name is not a valid CEL identifier'));
  if (!expression?.trim()) return [...faults, required(`${at}.expression`, 'expression is not specified')];
  const fault = check(expression, 'any', known);
  if (fault !== undefined) faults.push(invalidValue(`${at}.expression`, expression, fault));
  known.set(name, expression);
  return faults;
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];

function validationFaults(
  { expression = '', message = '', messageExpression = '', reason }: Validation,
  at: string,
  check: ExpressionCheck,
  known: ReadonlyMap<string, unknown>,
): FieldFault[] {
  const faults: FieldFault[] = [];
  const checkField = (field: string, text: string, type: 'bool' | 'string'): void => {
    const fault = check(text, type, known);
    if (fault !== undefined) faults.push(invalidValue(`${at}.${field}`, text, fault));
  };
  if (expression.trim() === '') faults.push(required(`${at}.expression`, 'expression is not specified'));
  else checkField('expression', expression, 'bool');
  if (messageExpression !== '' && messageExpression.trim() === '')
    faults.push(invalidValue(`${at}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  else if (messageExpression !== '') checkField('messageExpression', messageExpression, 'string');
  const said = message.trim();
  if (message !== '' && said === '')
    faults.push(invalidValue(`${at}.message`, message, 'message must be non-empty if specified'));
  else if (said.includes('\n'))
    faults.push(invalidValue(`${at}.message`, message, 'message must not contain line breaks'));
  else if (expression.trim().includes('\n') && said === '')
    faults.push(required(`${at}.message`, 'message must be specified if expression contains line breaks'));
  return [...faults, ...enumFault(reason, `${at}.reason`, reasons)];
}

const actionNames = ['Audit', 'Deny', 'Warn'];

export const admissionPolicyBindingHooks: BuiltinHooks = {
  default(object) {
    const { spec } = typed<Partial<IValidatingAdmissionPolicyBinding>>(object);
    defaultMatch(spec?.matchResources);
  },
  validate(object) {
    const { spec } = typed<Partial<IValidatingAdmissionPolicyBinding>>(object);
    if (spec?.paramRef) throw notImplemented('parameters of admission policies');
    const name = spec?.policyName ?? '';
    const faults =
      name === ''
        ? [required('spec.policyName')]
        : dnsSubdomain(name).map((text) => invalidValue('spec.policyName', name, text));
    if (spec?.matchResources) faults.push(...matchFaults(spec.matchResources, 'spec.matchResources'));
    faults.push(...actionFaults(spec?.validationActions ?? [], 'spec.validationActions'));
    if (faults.length === 0 && spec?.validationActions?.includes('Audit'))
      throw notImplemented('the action Audit of admission policies');
    return faults;
  },
};

function actionFaults(actions: readonly string[], at: string): FieldFault[] {
  const faults: FieldFault[] = [];
  for (const [index, action] of actions.entries()) {
    if (!actionNames.includes(action)) faults.push(notSupported(`${at}[${index}]`, action, actionNames));
    if (actions.indexOf(action) < index) faults.push(duplicate(`${at}[${index}]`, action));
  }
  if (actions.includes('Deny') && actions.includes('Warn'))
    faults.push(
      invalidValue(
        at,
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    );
  if (actions.length === 0) faults.push(required(at));
  return faults;
}
