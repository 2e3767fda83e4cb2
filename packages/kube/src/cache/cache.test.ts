import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeTransport } from '../../testing/fake-transport.ts';
import { Client } from '../client/client.ts';
import { type Secret, secrets } from '../objects/resources.ts';
import { Cache } from './cache.ts';
import { dropBookkeeping, type Transform } from './projection.ts';

const cacheOfNothing = () => new Cache(new Client(fakeTransport(() => ({ body: {} }))));
const withoutData: Transform<Secret> = ({ data: _data, ...rest }) => rest;

test('a later call without options, or with the same ones, returns the existing informer', () => {
  const cache = cacheOfNothing();
  const options = { transform: withoutData, labelSelector: 'a=b', namespaces: ['one'] };
  const informer = cache.informer(secrets, options);
  assert.equal(cache.informer(secrets), informer);
  assert.equal(cache.informer(secrets, { ...options, namespaces: ['one'] }), informer);
  assert.equal(cache.informer(secrets, { labelSelector: 'a=b' }), informer);
});

test('throws on options that differ from those of an earlier call', () => {
  const filtered = cacheOfNothing();
  filtered.informer(secrets, { transform: withoutData });
  assert.throws(() => filtered.informer(secrets, { transform: dropBookkeeping }), /Secret.*transform/i);
  const whole = cacheOfNothing();
  whole.informer(secrets);
  // A caller that relies on the filter must not get whole objects because another caller requested them first.
  assert.throws(() => whole.informer(secrets, { transform: withoutData }), TypeError);
  assert.throws(() => whole.informer(secrets, { labelSelector: 'a=b' }), /labelSelector/);
  assert.equal(whole.informers.length, 1);
});
