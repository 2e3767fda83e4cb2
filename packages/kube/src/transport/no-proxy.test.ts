import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isExempt } from './no-proxy.ts';

const NO_PROXY =
  'localhost,10.96.0.0/12, fd00:10:96::/112,.svc,192.168.1.1-192.168.1.9,10.0.0.0/99,10.0.0.0/';

const cases = [
  { reason: 'an address of the subnet of Services', host: '10.96.0.1', exempt: true },
  { reason: 'an address beside it', host: '10.112.0.1', exempt: false },
  { reason: 'an IPv6 address of a subnet', host: 'fd00:10:96::1', exempt: true },
  { reason: 'an IPv6 address of none', host: 'fd00:10:97::1', exempt: false },
  { reason: 'Node handles ranges', host: '192.168.1.5', exempt: false },
  { reason: 'an entry that is not a subnet exempts no address', host: '10.0.0.1', exempt: false },
  { reason: 'a name is in no subnet', host: 'api.example.com', exempt: false },
];

for (const { reason, host, exempt } of cases)
  test(`${reason}: ${exempt}`, () => {
    assert.equal(isExempt(host, { NO_PROXY }), exempt);
    assert.equal(isExempt(host, { no_proxy: NO_PROXY }), exempt, 'also in small letters');
    assert.equal(isExempt(host, {}), false);
  });
