/** Exec plugins as real programs. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ExecPlugin } from '@slurm-operator/kubernetes-values';
import { FakeClock } from '../../testing/fake-clock.ts';
import { ExecCredentials } from './exec-credential.ts';

function plugin(t: TestContext, code: string): ExecPlugin & { runs: () => number } {
  const directory = mkdtempSync(join(tmpdir(), 'exec-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'plugin.mjs');
  const log = join(directory, 'log');
  writeFileSync(log, '');
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(log)}, 'x');\n${code}`,
  );
  return { command: process.execPath, args: [file], runs: () => readFileSync(log, 'utf8').length };
}

test('caches the credential until shortly before it expires, or until it is refused', async (t) => {
  const clock = new FakeClock();
  const expires = new Date(clock.now() + 60_000).toISOString();
  const it = plugin(
    t,
    `const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
     console.log(JSON.stringify({ status: { token: info.kind + process.env.EXTRA, expirationTimestamp: '${expires}' } }));`,
  );
  const credentials = new ExecCredentials({ ...it, env: [{ name: 'EXTRA', value: '!' }] }, {}, clock);
  const both = await Promise.all([credentials.get(false), credentials.get(false)]);
  assert.deepEqual(both, [{ token: 'ExecCredential!' }, { token: 'ExecCredential!' }]);
  assert.equal(it.runs(), 1, 'asked for twice at once, it runs once');
  await clock.advance(49_000);
  await credentials.get(false);
  assert.equal(it.runs(), 1);
  await clock.advance(2_000);
  await credentials.get(false);
  assert.equal(it.runs(), 2);
  await credentials.get(true);
  assert.equal(it.runs(), 3);
});

test('errors do not contain the secret', async (t) => {
  const fails = plugin(t, `console.log('the-secret'); console.error('login first'); process.exit(1);`);
  const error = await new ExecCredentials(
    { ...fails, installHint: 'get it at example.org' },
    {},
    new FakeClock(),
  )
    .get(false)
    .then(
      () => 'no error',
      (reason: Error) => reason.message,
    );
  assert.match(error, /get it at example.org.*login first/);
  assert.doesNotMatch(error, /the-secret/);
  const empty = plugin(t, `console.log('{"status":{}}')`);
  await assert.rejects(new ExecCredentials(empty, {}, new FakeClock()).get(false), /neither a token nor/);
  const noise = plugin(t, `console.log('hello')`);
  await assert.rejects(
    new ExecCredentials(noise, {}, new FakeClock()).get(false),
    /must print an ExecCredential/,
  );
  await assert.rejects(
    new ExecCredentials({ command: '/no/such/plugin' }, {}, new FakeClock()).get(false),
    /ENOENT/,
  );
});
