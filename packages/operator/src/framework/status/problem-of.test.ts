/** Each kind of 403 has a reason and an advice of its own. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConflictError, ForbiddenError } from '@slurm-operator/kube';
import { refusedRequest } from './problem-of.ts';

const forbidden = (message: string) =>
  new ForbiddenError('cannot create pod w-0', { status: 403, body: { kind: 'Status', message } });

describe('a 403 of the API server', () => {
  const cases: readonly [message: string, reason: string, todo: RegExp][] = [
    [
      'pods "w-0" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2',
      'QuotaExceeded',
      /Increase the named ResourceQuota/,
    ],
    [
      'pods "w-0" is forbidden: failed quota: compute: must specify limits.cpu',
      'QuotaExceeded',
      /ResourceQuota/,
    ],
    [
      'pods "w-0" is forbidden: violates PodSecurity "restricted:latest": privileged (container "slurmd" must not set securityContext.privileged=true)',
      'PodSecurityViolation',
      /pod-security.kubernetes.io\/enforce=privileged/,
    ],
    [
      'pods is forbidden: User "system:serviceaccount:slinky:slurm-operator" cannot create resource "pods" in API group "" in the namespace "slurm"',
      'AccessDenied',
      /install the roles of its chart/,
    ],
    [
      'pods "w-0" is forbidden: unable to create new content in namespace slurm because it is being terminated',
      'NamespaceTerminating',
      /namespace is being deleted/,
    ],
    [
      'pods "w-0" is forbidden: maximum cpu usage per Container is 2, but limit is 4',
      'ApplyFailed',
      /maximum cpu usage/,
    ],
  ];
  for (const [message, reason, todo] of cases)
    test(`${reason}: ${message.slice(0, 70)}`, () => {
      const found = refusedRequest(forbidden(message));
      assert.equal(found?.reason, reason);
      assert.ok(found?.message.includes(message), 'the words of Kubernetes stay');
      assert.match(found.message, todo);
    });
  test('is found among several failures', () => {
    const several = new AggregateError([new Error('x'), forbidden('exceeded quota: a')], 'two failed');
    assert.equal(refusedRequest(several)?.reason, 'QuotaExceeded');
  });
});

test('another refusal is none of these', () => {
  assert.equal(refusedRequest(new ConflictError('x', { status: 409 })), undefined);
  assert.equal(refusedRequest(undefined), undefined);
});
