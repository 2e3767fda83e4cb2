/** What webhooks and policies are asked about: rules with operations, match conditions. */

import { qualifiedName } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../api/errors.ts';
import { duplicate, invalidValue, notSupported, required, tooMany } from '../api/fault.ts';

/** What is wrong with an expression that must answer a value of the given type; nothing when it can be used. */
export type ExpressionCheck = (
  expression: string,
  type: 'bool' | 'string' | 'any',
  extra?: ReadonlyMap<string, unknown>,
) => string | undefined;

export interface RuleWithOperations {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly scope?: string;
}

const operationNames = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

export function validateRule(rule: RuleWithOperations, at: string): FieldFault[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const faults: FieldFault[] = [];
  const list = (name: string, values: readonly string[], others: string): void => {
    if (values.length === 0) faults.push(required(`${at}.${name}`));
    if (values.length > 1 && values.includes('*'))
      faults.push(
        invalidValue(`${at}.${name}`, values, `if '*' is present, must not specify other ${others}`),
      );
  };
  list('operations', operations, 'operations');
  for (const [index, operation] of operations.entries())
    if (!operationNames.includes(operation))
      faults.push(notSupported(`${at}.operations[${index}]`, operation, operationNames));
  list('apiGroups', apiGroups, 'API groups');
  list('apiVersions', apiVersions, 'API versions');
  for (const [index, version] of apiVersions.entries())
    if (version === '') faults.push(required(`${at}.apiVersions[${index}]`));
  faults.push(...validateResources(resources, `${at}.resources`));
  if (scope !== undefined && !scopes.includes(scope)) faults.push(notSupported(`${at}.scope`, scope, scopes));
  return faults;
}

function validateResources(resources: readonly string[], at: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (resources.length === 0) faults.push(required(at));
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  let lastPlain: string | undefined;
  for (const [index, text] of resources.entries()) {
    if (text === '') {
      faults.push(required(`${at}[${index}]`));
      continue;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      lastPlain = text;
      continue;
    }
    const resource = text.slice(0, slash);
    const subresource = text.slice(slash + 1);
    const covered = (by: string): void => {
      faults.push(invalidValue(`${at}[${index}]`, text, `if '${by}' is present, must not specify ${text}`));
    };
    if (wholeResources.has(resource)) covered(`${resource}/*`);
    if (wholeSubresources.has(subresource)) covered(`*/${subresource}`);
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*'))
    faults.push(invalidValue(at, resources, "if '*/*' is present, must not specify other resources"));
  // Only the last resource without a subresource counts: so it is in the real server.
  if (resources.includes('*') && lastPlain !== '*')
    faults.push(
      invalidValue(at, resources, "if '*' is present, must not specify other resources without subresources"),
    );
  return faults;
}

const mostConditions = 64;

export interface MatchCondition {
  readonly name?: string;
  readonly expression?: string;
}

export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  at: string,
  check: ExpressionCheck,
): FieldFault[] {
  const faults: FieldFault[] = [];
  if (conditions.length > mostConditions) faults.push(tooMany(at, conditions.length, mostConditions));
  const names = new Set<string>();
  for (const [index, { name = '', expression = '' }] of conditions.entries()) {
    const field = `${at}[${index}]`;
    const fault = expression.trim() === '' ? undefined : check(expression.trim(), 'bool');
    if (expression.trim() === '') faults.push(required(`${field}.expression`));
    else if (fault !== undefined) faults.push(invalidValue(`${field}.expression`, expression.trim(), fault));
    if (name === '') faults.push(required(`${field}.name`));
    else for (const text of qualifiedName(name)) faults.push(invalidValue(`${field}.name`, name, text));
    if (name !== '' && names.has(name)) faults.push(duplicate(`${field}.name`, name));
    names.add(name);
  }
  return faults;
}

export function enumFault(
  value: string | undefined,
  field: string,
  supported: readonly string[],
): FieldFault[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(field, value, supported)];
}
