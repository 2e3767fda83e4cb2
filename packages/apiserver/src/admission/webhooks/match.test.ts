import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/types.ts';
import type { ResourceDefinition } from '../../resource/resource-definition.ts';
import type { AdmissionAttributes } from '../plugin.ts';
import {
  matchedDefinition,
  namespaceMatches,
  objectMatches,
  ruleMatches,
  type WebhookRule,
} from './match.ts';

const definition = (group: string, version: string, plural: string, namespaced = true) =>
  ({ group, version, plural, namespaced, kind: 'X', storage: plural }) as unknown as ResourceDefinition;
const labelled = (labels?: Record<string, string>): KubeObject => ({ metadata: labels ? { labels } : {} });
const attributes = (more: Partial<AdmissionAttributes> = {}): AdmissionAttributes => ({
  operation: 'CREATE',
  definition: definition('', 'v1', 'pods'),
  subresource: '',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  namespace: 'here',
  name: 'p',
  object: labelled(),
  oldObject: undefined,
  options: {},
  dryRun: false,
  ...more,
});
const all: WebhookRule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] };

const cases: { reason: string; rule: WebhookRule; request: AdmissionAttributes; want: boolean }[] = [
  { reason: 'stars match everything but subresources', rule: all, request: attributes(), want: true },
  {
    reason: 'a star alone is no subresource',
    rule: all,
    request: attributes({ subresource: 'status' }),
    want: false,
  },
  {
    reason: 'star slash star matches subresources',
    rule: { ...all, resources: ['*/*'] },
    request: attributes({ subresource: 'status' }),
    want: true,
  },
  {
    reason: 'a named subresource matches only itself',
    rule: { ...all, resources: ['pods/binding'] },
    request: attributes({ subresource: 'eviction' }),
    want: false,
  },
  {
    reason: 'the operation counts',
    rule: { ...all, operations: ['UPDATE'] },
    request: attributes(),
    want: false,
  },
  { reason: 'the version counts', rule: { ...all, apiVersions: ['v2'] }, request: attributes(), want: false },
  {
    reason: 'scope Cluster leaves out what is in namespaces',
    rule: { ...all, scope: 'Cluster' },
    request: attributes(),
    want: false,
  },
  {
    reason: 'scope Namespaced leaves out what is not',
    rule: { ...all, scope: 'Namespaced' },
    request: attributes({ definition: definition('', 'v1', 'nodes', false) }),
    want: false,
  },
];

describe('ruleMatches', () => {
  for (const { reason, rule, request, want } of cases)
    it(reason, () => assert.equal(ruleMatches(rule, request), want));
});

describe('matchedDefinition', () => {
  const old = definition('g', 'v1beta1', 'things');
  const current = definition('g', 'v1', 'things');
  const rules = [{ ...all, apiVersions: ['v1beta1'] }];
  it('shows another version when that is the one asked for', () =>
    assert.equal(
      matchedDefinition({ rules, matchPolicy: 'Equivalent' }, attributes({ definition: current }), [old]),
      old,
    ));
  it('does not when the match must be exact', () =>
    assert.equal(
      matchedDefinition({ rules, matchPolicy: 'Exact' }, attributes({ definition: current }), [old]),
      undefined,
    ));
});

describe('selectors', () => {
  const selector = { matchLabels: { check: 'yes' } };
  const none = () => undefined;
  it('an object that loses the label is still seen', () =>
    assert.ok(
      objectMatches(selector, attributes({ object: labelled(), oldObject: labelled({ check: 'yes' }) })),
    ));
  it('an object without it is not', () => assert.ok(!objectMatches(selector, attributes())));
  it('what is in no namespace is never left out by a namespace selector', () =>
    assert.ok(
      namespaceMatches(selector, attributes({ definition: definition('', 'v1', 'nodes', false) }), none),
    ));
  it('matches a namespace by its own labels', () =>
    assert.ok(
      namespaceMatches(
        selector,
        attributes({
          definition: definition('', 'v1', 'namespaces', false),
          object: labelled({ check: 'yes' }),
        }),
        none,
      ),
    ));
  it('matches an object by the labels of its namespace', () => {
    assert.ok(namespaceMatches(selector, attributes(), () => labelled({ check: 'yes' })));
    assert.ok(!namespaceMatches(selector, attributes(), () => labelled()));
  });
});
