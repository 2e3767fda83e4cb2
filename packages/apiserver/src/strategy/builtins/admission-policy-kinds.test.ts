/** What a policy, its binding and the address of a webhook may not say, in the words of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expressionFault } from '../../admission/expression.ts';
import type { FieldFault } from '../../api/errors.ts';
import type { KubeObject } from '../../api/types.ts';
import type { RequestContext } from '../../resource/request-context.ts';
import { admissionPolicyBindingHooks, admissionPolicyHooks } from './admission-policy-kinds.ts';
import type { BuiltinHooks } from './define.ts';
import { validateWebhookService, validateWebhookUrl } from './webhook-client.ts';

const texts = (faults: readonly FieldFault[]): string[] =>
  faults.map(({ field, message }) => `${field}: ${message}`);

function faultsOf(hooks: BuiltinHooks, spec: object): string[] {
  const object = { metadata: { name: 'x' }, spec: structuredClone(spec) } as unknown as KubeObject;
  hooks.default?.(object);
  return texts(hooks.validate?.(object, {} as RequestContext) ?? []);
}

const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
const policy = {
  matchConstraints: { resourceRules: [rule] },
  validations: [{ expression: 'object.spec.replicas <= 5' }],
};

const policies: readonly { readonly spec: object; readonly want: readonly RegExp[] }[] = [
  { spec: policy, want: [] },
  {
    spec: {
      ...policy,
      variables: [{ name: 'n', expression: 'object.spec.replicas' }],
      validations: [{ expression: 'variables.n <= 5' }],
    },
    want: [],
  },
  { spec: { ...policy, matchConstraints: undefined }, want: [/^spec\.matchConstraints: Required value$/] },
  { spec: { ...policy, matchConstraints: {} }, want: [/^spec\.matchConstraints\.resourceRules: Required/] },
  {
    spec: { ...policy, validations: [] },
    want: [/^spec\.validations: Required/, /^spec\.auditAnnotations: Required/],
  },
  { spec: { ...policy, failurePolicy: 'Maybe' }, want: [/supported values: "Fail", "Ignore"$/] },
  {
    spec: { ...policy, validations: [{ expression: '1 + 1', reason: 'Because' }] },
    want: [
      /validations\[0\]\.expression: .* must evaluate to bool but got int$/,
      /reason: Unsupported value: "Because"/,
    ],
  },
  {
    spec: { ...policy, validations: [{ expression: 'true', messageExpression: '1' }] },
    want: [/messageExpression: .* must evaluate to string but got int$/],
  },
  {
    spec: { ...policy, validations: [{ expression: 'variables.none == 1' }] },
    want: [/compilation failed: ERROR: <input>:1:10: undefined field 'none'/],
  },
  {
    spec: { ...policy, validations: [{ expression: 'request.nope == 1' }] },
    want: [/undefined field 'nope'/],
  },
  {
    spec: { ...policy, variables: [{ name: '9', expression: '' }] },
    want: [/name is not a valid CEL identifier$/, /expression is not specified$/],
  },
];

for (const { spec, want } of policies)
  test(`a policy ${want.length === 0 ? 'is accepted' : `is refused: ${want[0]}`}`, () => {
    const found = faultsOf(admissionPolicyHooks(expressionFault), spec);
    assert.equal(found.length, want.length, found.join('\n'));
    for (const [index, pattern] of want.entries()) assert.match(found[index] ?? '', pattern);
  });

test('a binding names a policy and what happens, but not twice the same', () => {
  assert.deepEqual(
    faultsOf(admissionPolicyBindingHooks, { policyName: 'p', validationActions: ['Deny'] }),
    [],
  );
  assert.deepEqual(faultsOf(admissionPolicyBindingHooks, {}), [
    'spec.policyName: Required value',
    'spec.validationActions: Required value',
  ]);
  const both = faultsOf(admissionPolicyBindingHooks, {
    policyName: 'p',
    validationActions: ['Deny', 'Warn'],
  });
  assert.match(both.join(), /must not contain both Deny and Warn/);
});

test('a webhook is reached by https without user, query or fragment', () => {
  assert.deepEqual(texts(validateWebhookUrl('https://a.example.org/path', 'url')), []);
  const found = texts(validateWebhookUrl('http://me@/x?a=b#c', 'url')).join('\n');
  for (const part of [/only allowed URL scheme/, /host must be/, /user information/, /fragments/, /query/])
    assert.match(found, part);
});

test('the path and port of a webhook Service are checked', () => {
  const service = { name: 's', namespace: 'n', port: 443 };
  assert.deepEqual(texts(validateWebhookService({ ...service, path: '/a/b' }, 'service')), []);
  assert.match(
    texts(validateWebhookService({ ...service, path: 'a//b' }, 'service')).join(),
    /must start with a '\/'/,
  );
  assert.match(
    texts(validateWebhookService({ ...service, port: 0 }, 'service')).join(),
    /between 1 and 65535/,
  );
});
