/** Roles and bindings: validation, and the escalation check. */

import { dnsSubdomain } from '@slurm-operator/kubernetes-values';
import { type FieldFault, forbidden, notFound } from '../../api/errors.ts';
import { invalidValue, notSupported, required } from '../../api/fault.ts';
import { equal } from '../../api/json.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import { refreshAggregates } from '../../authorization/aggregate-roles.ts';
import { authorize } from '../../authorization/decide.ts';
import { checkBindingGrant, checkRoleGrant, type GrantCheck } from '../../authorization/escalation.ts';
import type { PolicyRule } from '../../authorization/policy-rule.ts';
import { type BindingObject, type RoleObject, rbacObjects } from '../../authorization/rule-resolver.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import { pathSegmentFaults } from '../metadata/name-faults.ts';
import type { BuiltinHooks } from './define.ts';
import { validateLabelSelector } from './label-selector-rules.ts';

const GROUP = 'rbac.authorization.k8s.io';

const role = (object: KubeObject) => typed<RoleObject>(object);
const binding = (object: KubeObject) => typed<BindingObject>(object);

export const roleHooks: BuiltinHooks = roleRules('roles');
export const clusterRoleHooks: BuiltinHooks = {
  ...roleRules('clusterroles'),
  afterCreate: (_object, { parts }) => refreshAggregates(parts.store),
  afterUpdate: (_object, _old, { parts }) => refreshAggregates(parts.store),
  afterDelete: (_object, { parts }) => refreshAggregates(parts.store),
};
export const roleBindingHooks: BuiltinHooks = bindingRules('rolebindings');
export const clusterRoleBindingHooks: BuiltinHooks = bindingRules('clusterrolebindings');

function roleRules(resource: 'roles' | 'clusterroles'): BuiltinHooks {
  const guard = (object: KubeObject, context: RequestContext) => {
    const { name = '', namespace } = object.metadata;
    const check = checkRoleGrant(
      rbacObjects(context.parts.store),
      context.user,
      { resource, name, ...(namespace === undefined ? {} : { namespace }) },
      role(object).rules ?? [],
    );
    refuse(check, resource, name);
    if (role(object).aggregationRule !== undefined && !holdsEverything(context))
      throw forbidden(
        { group: GROUP, resource },
        name,
        'must have cluster-admin privileges to use the aggregationRule',
      );
  };
  return {
    prepareForCreate(object, context) {
      emptyToNull(object);
      guard(object, context);
    },
    prepareForUpdate(object, old, context) {
      emptyToNull(object);
      if (!changesOnlyForCollection(object, old)) guard(object, context);
    },
    validate: (object) => [
      ...(role(object).rules ?? []).flatMap((rule, index) =>
        ruleFaults(rule, `rules[${index}]`, resource === 'clusterroles'),
      ),
      ...aggregationFaults(role(object)),
    ],
  };
}

function bindingRules(resource: 'rolebindings' | 'clusterrolebindings'): BuiltinHooks {
  const guard = (object: KubeObject, context: RequestContext) => {
    const { name = '', namespace } = object.metadata;
    const { roleRef } = binding(object);
    const check = checkBindingGrant(rbacObjects(context.parts.store), context.user, namespace, roleRef);
    refuse(check, resource, name);
  };
  return {
    default(object) {
      const it = typed<{
        roleRef?: { apiGroup?: string };
        subjects?: { kind: string; apiGroup?: string }[];
      }>(object);
      if (it.roleRef) it.roleRef.apiGroup ||= GROUP;
      for (const subject of it.subjects ?? [])
        if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ??= GROUP;
    },
    prepareForCreate: guard,
    prepareForUpdate(object, old, context) {
      // A changed roleRef is refused for every user.
      const isSameRole = equal(binding(object).roleRef, binding(old).roleRef);
      if (isSameRole && !changesOnlyForCollection(object, old)) guard(object, context);
    },
    validate: (object) => bindingFaults(binding(object), resource === 'clusterrolebindings'),
    validateUpdate(object, old) {
      const { roleRef } = binding(object);
      if (equal(roleRef, binding(old).roleRef)) return [];
      const shown = { APIGroup: roleRef.apiGroup, Kind: roleRef.kind, Name: roleRef.name };
      return [invalidValue('roleRef', shown, 'cannot change roleRef')];
    },
  };
}

/** Who aggregates roles can be given rights by anyone who writes one, so only those with all rights may. */
function holdsEverything({ parts, user }: RequestContext): boolean {
  const request = { kind: 'resource', verb: '*', apiGroup: '*', resource: '*' } as const;
  return authorize(rbacObjects(parts.store), user, request).allowed;
}

/** The garbage collector must be able to let go of what it could not write: such changes grant nothing. */
function changesOnlyForCollection(object: KubeObject, old: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields, resourceVersion } = old.metadata;
  const kept = { ownerReferences, finalizers, managedFields, resourceVersion };
  return equal({ ...object, metadata: { ...object.metadata, ...kept } }, old);
}

/** No rules are stored as null; that the client sent a list has been noted by then. */
function emptyToNull(object: KubeObject): void {
  if (role(object).rules?.length === 0) object['rules'] = null;
}

function refuse(check: GrantCheck, resource: string, name: string): void {
  if (check.outcome === 'missing-role') throw notFound({ group: GROUP, resource }, check.name);
  if (check.outcome === 'escalation') throw forbidden({ group: GROUP, resource }, name, check.message);
}

function ruleFaults(rule: PolicyRule, path: string, clusterWide: boolean): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!rule.verbs?.length) faults.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
  if (rule.nonResourceURLs?.length) {
    if (!clusterWide)
      faults.push(
        invalidValue(
          `${path}.nonResourceURLs`,
          rule.nonResourceURLs,
          'namespaced rules cannot apply to non-resource URLs',
        ),
      );
    if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length)
      faults.push(
        invalidValue(
          `${path}.nonResourceURLs`,
          rule.nonResourceURLs,
          'rules cannot apply to both regular resources and non-resource URLs',
        ),
      );
    return faults;
  }
  if (!rule.apiGroups?.length)
    faults.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  if (!rule.resources?.length)
    faults.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  return faults;
}

function aggregationFaults({ aggregationRule }: RoleObject): FieldFault[] {
  if (aggregationRule === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0)
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, index) => validateLabelSelector(selector, `${path}[${index}]`));
}

function bindingFaults({ roleRef, subjects }: BindingObject, clusterWide: boolean): FieldFault[] {
  const faults: FieldFault[] = [];
  if (roleRef.apiGroup !== GROUP) faults.push(notSupported('roleRef.apiGroup', roleRef.apiGroup, [GROUP]));
  const kinds = clusterWide ? ['ClusterRole'] : ['Role', 'ClusterRole'];
  if (!kinds.includes(roleRef.kind)) faults.push(notSupported('roleRef.kind', roleRef.kind, kinds));
  if (!roleRef.name) faults.push(required('roleRef.name'));
  else
    faults.push(
      ...pathSegmentFaults(roleRef.name).map((text) => invalidValue('roleRef.name', roleRef.name, text)),
    );
  for (const [index, subject] of (subjects ?? []).entries()) {
    const at = `subjects[${index}]`;
    if (!subject.name) faults.push(required(`${at}.name`));
    switch (subject.kind) {
      case 'ServiceAccount':
        if (subject.name)
          for (const text of dnsSubdomain(subject.name))
            faults.push(invalidValue(`${at}.name`, subject.name, text));
        if (subject.apiGroup) faults.push(notSupported(`${at}.apiGroup`, subject.apiGroup, ['']));
        if (clusterWide && !subject.namespace) faults.push(required(`${at}.namespace`));
        break;
      case 'User':
      case 'Group':
        if (subject.apiGroup !== GROUP)
          faults.push(notSupported(`${at}.apiGroup`, subject.apiGroup ?? '', [GROUP]));
        break;
      default:
        faults.push(notSupported(`${at}.kind`, subject.kind, ['ServiceAccount', 'User', 'Group']));
    }
  }
  return faults;
}
