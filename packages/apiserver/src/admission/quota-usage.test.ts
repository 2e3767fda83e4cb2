import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../api/types.ts';
import { addUsage, checkQuota, type Usage, usageOf } from './quota-usage.ts';

const pod = (containers: object[], more: object = {}): KubeObject => ({
  metadata: { name: 'p' },
  spec: { containers, ...more },
});
const asks = (requests: object, limits: object = {}) => ({ name: 'c', resources: { requests, limits } });
const shown = (usage: Usage) =>
  Object.fromEntries([...usage].map(([name, amount]) => [name, amount.toString()]));

describe('usageOf', () => {
  it('a pod counts itself and the sum of its containers', () =>
    assert.deepEqual(
      shown(usageOf('', 'pods', pod([asks({ cpu: '500m' }), asks({ cpu: '1' }, { cpu: '2' })]))),
      {
        'count/pods': '1',
        pods: '1',
        'requests.cpu': '1500m',
        cpu: '1500m',
        'limits.cpu': '2',
      },
    ));
  it('of init containers only the largest counts, as they run one by one', () =>
    assert.equal(
      shown(
        usageOf(
          '',
          'pods',
          pod([asks({ memory: '1Gi' })], {
            initContainers: [asks({ memory: '3Gi' }), asks({ memory: '2Gi' })],
          }),
        ),
      )['requests.memory'],
      '3Gi',
    ));
  it('a pod that is over costs nothing but its count', () =>
    assert.deepEqual(
      shown(usageOf('', 'pods', { ...pod([asks({ cpu: '1' })]), status: { phase: 'Succeeded' } })),
      { 'count/pods': '1' },
    ));
  it('a claim counts under its class as well', () =>
    assert.equal(
      shown(
        usageOf('', 'persistentvolumeclaims', {
          metadata: {},
          spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
        }),
      )['fast.storageclass.storage.k8s.io/requests.storage'],
      '1Gi',
    ));
  it('objects of other groups are counted by name and group', () =>
    assert.deepEqual(shown(usageOf('apps', 'deployments', { metadata: {} })), {
      'count/deployments.apps': '1',
    }));
});

describe('checkQuota', () => {
  const one = usageOf('', 'pods', pod([asks({ cpu: '1' })]));
  it('what just fits is allowed', () =>
    assert.deepEqual(checkQuota({ pods: '2' }, one, one, true).exceeded, []));
  it('what does not fit is named with what was asked, used and allowed', () => {
    const check = checkQuota({ pods: '2', cpu: '2' }, addUsage(one, one), one, true);
    assert.deepEqual(
      { exceeded: check.exceeded, requested: check.requested, used: check.used, limited: check.limited },
      { exceeded: ['cpu', 'pods'], requested: 'cpu=1,pods=1', used: 'cpu=2,pods=2', limited: 'cpu=2,pods=2' },
    );
  });
  it('a pod must say what the quota counts of CPU and memory', () =>
    assert.deepEqual(checkQuota({ 'limits.memory': '1Gi', pods: '9' }, new Map(), one, true).mustSay, [
      'limits.memory',
    ]));
  it('a quota about other things does not matter', () =>
    assert.deepEqual(checkQuota({ secrets: '0' }, new Map(), one, true).exceeded, []));
});
