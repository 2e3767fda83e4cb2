import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { UserInfo } from '../api/types.ts';
import { authorize } from './decide.ts';
import { checkBindingGrant, checkRoleGrant } from './escalation.ts';
import type { PolicyRule, RequestAttributes } from './policy-rule.ts';
import type { BindingObject, RbacObjects, RoleObject, Subject } from './rule-resolver.ts';

/** RBAC objects from literals: one role per binding, of the same name. */
function rbac(input: {
  namespaced?: { namespace: string; subject: Subject; rules: PolicyRule[] }[];
  clusterWide?: { subject: Subject; rules: PolicyRule[] }[];
  clusterRoles?: RoleObject[];
}): RbacObjects {
  const roles = (input.namespaced ?? []).map((entry, index) => ({
    metadata: { name: `r${index}`, namespace: entry.namespace },
    rules: entry.rules,
  }));
  const clusterRoles: RoleObject[] = [
    ...(input.clusterRoles ?? []),
    ...(input.clusterWide ?? []).map((entry, index) => ({
      metadata: { name: `c${index}` },
      rules: entry.rules,
    })),
  ];
  const bind = (name: string, kind: string, subject: Subject, namespace?: string): BindingObject => ({
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    subjects: [subject],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  });
  return {
    role: (namespace, name) =>
      roles.find((role) => role.metadata.name === name && role.metadata.namespace === namespace),
    clusterRole: (name) => clusterRoles.find((role) => role.metadata.name === name),
    clusterRoles: () => clusterRoles,
    roleBindings: (namespace) =>
      (input.namespaced ?? []).flatMap((entry, index) =>
        entry.namespace === namespace ? [bind(`r${index}`, 'Role', entry.subject, namespace)] : [],
      ),
    clusterRoleBindings: () =>
      (input.clusterWide ?? []).map((entry, index) => bind(`c${index}`, 'ClusterRole', entry.subject)),
  };
}

const user = (name: string, ...groups: string[]): UserInfo => ({ name, groups });
const anna: Subject = { kind: 'User', name: 'anna' };
const readConfig: PolicyRule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] };
const ask = (verb: string, more: Partial<Extract<RequestAttributes, { kind: 'resource' }>> = {}) =>
  ({ kind: 'resource', verb, apiGroup: '', resource: 'configmaps', namespace: 'here', ...more }) as const;

const cases: {
  reason: string;
  objects: RbacObjects;
  user: UserInfo;
  request: RequestAttributes;
  allowed: boolean;
}[] = [
  {
    reason: 'a Role allows its verbs in its namespace',
    objects: rbac({ namespaced: [{ namespace: 'here', subject: anna, rules: [readConfig] }] }),
    user: user('anna'),
    request: ask('get', { name: 'x' }),
    allowed: true,
  },
  {
    reason: 'and nowhere else',
    objects: rbac({ namespaced: [{ namespace: 'here', subject: anna, rules: [readConfig] }] }),
    user: user('anna'),
    request: ask('get', { name: 'x', namespace: 'there' }),
    allowed: false,
  },
  {
    reason: 'rights on pods are no rights on pods/status',
    objects: rbac({
      namespaced: [
        { namespace: 'here', subject: anna, rules: [{ ...readConfig, resources: ['pods'], verbs: ['*'] }] },
      ],
    }),
    user: user('anna'),
    request: ask('patch', { resource: 'pods', subresource: 'status', name: 'p' }),
    allowed: false,
  },
  {
    reason: 'a star before a subresource stands for every resource that has it',
    objects: rbac({
      clusterWide: [
        { subject: anna, rules: [{ apiGroups: ['*'], resources: ['*/scale'], verbs: ['update'] }] },
      ],
    }),
    user: user('anna'),
    request: ask('update', { apiGroup: 'apps', resource: 'statefulsets', subresource: 'scale', name: 's' }),
    allowed: true,
  },
  {
    reason: 'a rule with names does not allow a request without one',
    objects: rbac({
      namespaced: [
        {
          namespace: 'here',
          subject: anna,
          rules: [{ ...readConfig, verbs: ['create'], resourceNames: ['mine'] }],
        },
      ],
    }),
    user: user('anna'),
    request: ask('create'),
    allowed: false,
  },
  {
    reason: 'a group binding holds for its members',
    objects: rbac({ clusterWide: [{ subject: { kind: 'Group', name: 'ops' }, rules: [readConfig] }] }),
    user: user('ben', 'ops'),
    request: ask('list'),
    allowed: true,
  },
  {
    reason: 'a ServiceAccount subject without namespace means the namespace of the binding',
    objects: rbac({
      namespaced: [
        { namespace: 'here', subject: { kind: 'ServiceAccount', name: 'bot' }, rules: [readConfig] },
      ],
    }),
    user: user('system:serviceaccount:here:bot'),
    request: ask('list'),
    allowed: true,
  },
  {
    reason: 'a User subject of the same text as a service account of another namespace gives nothing',
    objects: rbac({
      namespaced: [
        { namespace: 'here', subject: { kind: 'ServiceAccount', name: 'bot' }, rules: [readConfig] },
      ],
    }),
    user: user('system:serviceaccount:there:bot'),
    request: ask('list'),
    allowed: false,
  },
  {
    reason: 'a path with a star at the end matches below it',
    objects: rbac({
      clusterWide: [{ subject: anna, rules: [{ verbs: ['get'], nonResourceURLs: ['/apis/*'] }] }],
    }),
    user: user('anna'),
    request: { kind: 'path', verb: 'get', path: '/apis/apps' },
    allowed: true,
  },
  {
    reason: 'superusers need no rule',
    objects: rbac({}),
    user: user('root', 'system:masters'),
    request: ask('delete', { name: 'x' }),
    allowed: true,
  },
  {
    reason: 'an aggregating ClusterRole has the rules of the roles its selector finds',
    objects: {
      ...rbac({ clusterWide: [{ subject: anna, rules: [] }] }),
      clusterRole: () => ({
        metadata: { name: 'c0' },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] },
      }),
      clusterRoles: () => [{ metadata: { name: 'part', labels: { part: 'yes' } }, rules: [readConfig] }],
    },
    user: user('anna'),
    request: ask('list'),
    allowed: true,
  },
];

describe('authorize', () => {
  for (const { reason, objects, user: who, request, allowed } of cases)
    it(reason, () => assert.equal(authorize(objects, who, request).allowed, allowed));

  it('names the binding, the role and the subject that allowed it', () => {
    const objects = rbac({ namespaced: [{ namespace: 'here', subject: anna, rules: [readConfig] }] });
    assert.equal(
      authorize(objects, user('anna'), ask('get', { name: 'x' })).reason,
      'RBAC: allowed by RoleBinding "r0/here" of Role "r0" to User "anna"',
    );
  });
});

const word = fc.constantFrom('get', 'list', 'create', '*');
const resource = fc.constantFrom('pods', 'pods/log', 'configmaps', '*', '*/log');
const ruleArbitrary: fc.Arbitrary<PolicyRule> = fc.record({
  verbs: fc.array(word, { minLength: 1, maxLength: 2 }),
  apiGroups: fc.array(fc.constantFrom('', 'apps', '*'), { minLength: 1, maxLength: 2 }),
  resources: fc.array(resource, { minLength: 1, maxLength: 2 }),
});
const requestArbitrary = fc.record({
  kind: fc.constant('resource' as const),
  verb: fc.constantFrom('get', 'list', 'create'),
  apiGroup: fc.constantFrom('', 'apps'),
  resource: fc.constantFrom('pods', 'configmaps'),
  subresource: fc.constantFrom('log', 'status'),
  namespace: fc.constantFrom('here', 'there'),
});

describe('RBAC laws', () => {
  it('adding a rule never takes a permission away', () => {
    fc.assert(
      fc.property(
        fc.array(ruleArbitrary, { maxLength: 4 }),
        ruleArbitrary,
        requestArbitrary,
        (rules, more, request) => {
          const before = rbac({ clusterWide: [{ subject: anna, rules }] });
          const after = rbac({ clusterWide: [{ subject: anna, rules: [...rules, more] }] });
          if (authorize(before, user('anna'), request).allowed)
            assert.ok(authorize(after, user('anna'), request).allowed);
        },
      ),
    );
  });

  it('what the escalation check lets a user grant gives no one a right the user lacks', () => {
    fc.assert(
      fc.property(
        fc.array(ruleArbitrary, { maxLength: 4 }),
        ruleArbitrary,
        requestArbitrary,
        (held, granted, request) => {
          const objects = rbac({ clusterWide: [{ subject: anna, rules: held }] });
          const check = checkRoleGrant(objects, user('anna'), { resource: 'clusterroles', name: 'new' }, [
            granted,
          ]);
          if (check.outcome !== 'allowed') return;
          const grantee = rbac({
            clusterWide: [{ subject: { kind: 'User', name: 'ben' }, rules: [granted] }],
          });
          if (authorize(grantee, user('ben'), request).allowed)
            assert.ok(authorize(objects, user('anna'), request).allowed);
        },
      ),
    );
  });
});

describe('escalation', () => {
  const objects = rbac({
    namespaced: [{ namespace: 'here', subject: anna, rules: [readConfig] }],
    clusterRoles: [
      {
        metadata: { name: 'cluster-admin' },
        rules: [
          { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
          { verbs: ['*'], nonResourceURLs: ['*'] },
        ],
      },
    ],
  });
  const who = user('anna', 'system:authenticated');

  it('names the missing rules as one line per resource', () => {
    const check = checkRoleGrant(objects, who, { resource: 'roles', namespace: 'here', name: 'esc' }, [
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] },
    ]);
    assert.deepEqual(check, {
      outcome: 'escalation',
      message:
        'user "anna" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
    });
  });

  it('allows a grant of what is held', () => {
    const check = checkRoleGrant(objects, who, { resource: 'roles', namespace: 'here', name: 'ok' }, [
      readConfig,
    ]);
    assert.equal(check.outcome, 'allowed');
  });

  it('refuses to bind a role of more rights, and says which', () => {
    const check = checkBindingGrant(objects, who, 'here', {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: 'cluster-admin',
    });
    assert.equal(check.outcome, 'escalation');
    assert.match(
      check.outcome === 'escalation' ? check.message : '',
      /\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}\n\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}$/,
    );
  });

  it('says when the role to bind does not exist', () => {
    const check = checkBindingGrant(objects, who, 'here', {
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Role',
      name: 'absent',
    });
    assert.deepEqual(check, { outcome: 'missing-role', name: 'absent' });
  });
});
