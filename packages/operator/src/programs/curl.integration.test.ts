import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { curl } from './curl.ts';

async function run(...args: string[]) {
  let out = '';
  let err = '';
  const code = await curl(args, {
    print: (text) => (out += text.toString()),
    complain: (text) => (err += text),
  });
  return { code, out, err };
}

async function serve(t: TestContext, status = 200): Promise<string> {
  const server = createServer((request, response) =>
    response
      .writeHead(status, { 'x-token': request.headers.authorization ?? '' })
      .end(`${request.method} ${request.url}`),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `localhost:${(server.address() as AddressInfo).port}`;
}

test('gets what this machine serves', async (t) => {
  const host = await serve(t);
  assert.deepEqual(await run('-s', `${host}/debug/vars?a=b`), {
    code: 0,
    out: 'GET /debug/vars?a=b',
    err: '',
  });
  const { out } = await run('-si', '-H', 'Authorization: Bearer x', `http://${host}/`);
  assert.match(out, /^HTTP\/1\.1 200 OK\n(.*\n)*x-token: Bearer x\n(.*\n)*\nGET \/$/);
});

test('a failure is an exit code, as of curl', async (t) => {
  const host = await serve(t, 503);
  assert.equal((await run(`${host}/`)).code, 0, 'an answer is an answer');
  assert.deepEqual(await run('-sf', `${host}/`), {
    code: 22,
    out: '',
    err: '(22) the answer is 503 Service Unavailable',
  });
  assert.equal((await run('localhost:1/')).code, 7, 'nothing listens');
});

test('nothing else is in reach', async () => {
  for (const url of [
    'http://example.org/',
    '10.0.0.1:80',
    'http://[fe80::1]/',
    'http://localhost.example/',
    'http://1270.0.0.1/',
  ])
    assert.notEqual((await run(url)).code, 0, url);
  assert.match(
    (await run('http://169.254.169.254/')).err,
    /is not localhost: this curl connects to localhost only/,
  );
  for (const args of [
    [],
    ['-X', 'POST', 'localhost'],
    ['-d', 'x', 'localhost'],
    ['ftp://localhost/'],
    ['-m', '0', 'localhost'],
  ])
    assert.equal((await run(...args)).code, 2, args.join(' '));
});
