/** What every request is checked for, one by one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedCookie, readSessionCookie, sessionCookie } from './cookie.ts';
import { matchRoute, type Route } from './routes.ts';
import { contentTypeRefusal, crossSiteRefusal, hostRefusal } from './same-origin.ts';
import { securityHeaders } from './security-headers.ts';

const hosts = ['slurm.example.org', '127.0.0.1:8080'];
const id = 'a'.repeat(43);

test('writes are accepted from this page only', () => {
  const cases: readonly (readonly [string, Record<string, string>, boolean])[] = [
    ['the page itself', { origin: 'https://slurm.example.org', 'sec-fetch-site': 'same-origin' }, true],
    ['the page behind a proxy that drops Sec-Fetch-Site', { origin: 'https://slurm.example.org' }, true],
    ['the page on loopback', { origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' }, true],
    ['another site', { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' }, false],
    [
      'another site that says same-origin',
      { origin: 'https://evil.example.com', 'sec-fetch-site': 'same-origin' },
      false,
    ],
    [
      'a neighbour of the same domain',
      { origin: 'https://wiki.example.org', 'sec-fetch-site': 'same-site' },
      false,
    ],
    ['a link that was typed', { 'sec-fetch-site': 'none' }, false],
    ['a sandboxed frame', { origin: 'null' }, false],
    ['a program without headers', {}, false],
    ['another port', { origin: 'https://slurm.example.org:444' }, false],
    ['a name that begins like ours', { origin: 'https://slurm.example.org.evil.com' }, false],
  ];
  for (const [who, headers, good] of cases)
    assert.equal(crossSiteRefusal(headers, hosts) === undefined, good, who);
});

test('a body that a form can send is refused', () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
  ])
    assert.ok(contentTypeRefusal({ 'content-type': type }), type);
  assert.equal(contentTypeRefusal({ 'content-type': 'application/json; charset=utf-8' }), undefined);
});

test('a foreign name for this address is refused', () => {
  assert.equal(hostRefusal({ host: 'SLURM.example.org' }, hosts), undefined);
  assert.ok(hostRefusal({ host: 'rebound.example.com' }, hosts));
  assert.ok(hostRefusal({}, hosts));
});

test('the cookie belongs to this host over TLS, and scripts cannot read it', () => {
  const cookie = sessionCookie(id, { secure: true });
  for (const part of ['__Host-session=', 'Path=/', 'HttpOnly', 'SameSite=Strict', 'Secure'])
    assert.ok(cookie.includes(part), part);
  assert.ok(!cookie.includes('Domain'));
  assert.match(endedCookie({ secure: true }), /Max-Age=0/);
  assert.equal(readSessionCookie(`other=1; __Host-session=${id}`, { secure: true }), id);
  assert.equal(
    readSessionCookie(`session=${id}`, { secure: true }),
    undefined,
    'without the prefix it may be planted',
  );
  assert.equal(readSessionCookie('__Host-session=<script>', { secure: true }), undefined);
});

test('the policy allows no inline script, no foreign source, no frame, no string that becomes script', () => {
  const policy = String(securityHeaders(true)['Content-Security-Policy']);
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"])
    assert.ok(policy.includes(part));
  assert.ok(!/unsafe|\*|https?:/.test(policy));
});

test('paths match whole, and their parts are decoded once', () => {
  const handle = () => ({ status: 200, body: {} });
  const routes: readonly Route[] = [
    { method: 'GET', path: '/api/clusters/:namespace/:cluster/nodes/:node', rights: ['see'], handle },
    {
      method: 'POST',
      path: '/api/clusters/:namespace/:cluster/nodes/:node',
      rights: ['changeNodes'],
      handle,
    },
  ];
  const found = matchRoute(routes, 'GET', '/api/clusters/a/b/nodes/n%2D1');
  assert.ok(typeof found === 'object');
  assert.deepEqual(found.parameters, { namespace: 'a', cluster: 'b', node: 'n-1' });
  assert.equal(matchRoute(routes, 'DELETE', '/api/clusters/a/b/nodes/n'), 'wrong method');
  for (const path of [
    '/api/clusters/a/b/nodes/',
    '/api/clusters/a/b/nodes/n/',
    '/api/clusters/a/b/nodes/%2e%2e',
    '/api/clusters/a/b/nodes/..%2f..%2fsecrets',
    '/api/clusters/a/b/nodes/%5c',
    '/api/clusters/a/b/nodes/%00',
    '/api/clusters/a/b/nodes/%',
    `/api/clusters/a/b/nodes/${'n'.repeat(300)}`,
    '/API/clusters/a/b/nodes/n',
  ])
    assert.equal(matchRoute(routes, 'GET', path), 'not found', path);
});
