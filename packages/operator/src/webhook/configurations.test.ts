/** The webhook configurations: which requests are reviewed, and what happens when no webhook answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  mutatingConfiguration,
  reviewedKinds,
  validatePath,
  validatingConfiguration,
} from './configurations.ts';

const place = { name: 'hook', service: { name: 'hook', namespace: 'slinky' } };

test('every reviewed kind is asked about when it is made and when it changes, and accepted within seconds when none answers', () => {
  const { webhooks } = validatingConfiguration(place);
  assert.deepEqual(
    webhooks.map(({ clientConfig }) => clientConfig.service.path),
    reviewedKinds.map(validatePath),
  );
  for (const { name, rules, failurePolicy, sideEffects, timeoutSeconds, clientConfig } of webhooks) {
    const [rule] = rules;
    assert.deepEqual(rule?.operations, ['CREATE', 'UPDATE'], name);
    assert.deepEqual(
      [rule?.apiGroups, rule?.apiVersions, rule?.scope],
      [['slinky.slurm.net'], ['v1beta1'], 'Namespaced'],
    );
    assert.deepEqual([failurePolicy, sideEffects], ['Ignore', 'None']);
    assert.ok(
      timeoutSeconds <= 2,
      'an edit that meets a silent replica twice is accepted within five seconds',
    );
    assert.equal(clientConfig.service.port, 443);
    assert.equal(clientConfig.service.namespace, 'slinky');
  }
});

test('objects that are being deleted, and changes outside the specification, do not need the webhook', () => {
  for (const { matchConditions } of validatingConfiguration(place).webhooks)
    assert.deepEqual(
      matchConditions.map(({ expression }) => expression),
      ['!has(object.metadata.deletionTimestamp)', 'oldObject == null || object.spec != oldObject.spec'],
    );
});

test('a pod is bound without the webhook, and those of Kubernetes and of the operator never wait for it', () => {
  const [hook, ...more] = mutatingConfiguration(place).webhooks;
  assert.equal(more.length, 0);
  assert.equal(hook?.failurePolicy, 'Ignore');
  assert.equal(hook?.sideEffects, 'NoneOnDryRun');
  assert.ok((hook?.timeoutSeconds ?? 99) <= 2);
  assert.deepEqual(hook?.rules[0]?.resources, ['pods/binding']);
  const [expression] = hook?.namespaceSelector.matchExpressions ?? [];
  assert.equal(expression?.operator, 'NotIn');
  assert.deepEqual(expression?.values, ['kube-system', 'kube-public', 'kube-node-lease', 'slinky']);
});
