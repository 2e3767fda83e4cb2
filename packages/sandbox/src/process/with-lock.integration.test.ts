import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { withLock } from './with-lock.ts';

let file = '';
before(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'with-lock-')), 'lock');
});
after(() => rm(join(file, '..'), { recursive: true }));

test('one at a time', async () => {
  let inside = 0;
  await Promise.all(
    Array.from({ length: 5 }, () =>
      withLock(file, async () => {
        assert.equal(++inside, 1);
        await new Promise((resolve) => setTimeout(resolve, 5));
        inside -= 1;
      }),
    ),
  );
});

test('a failure frees the lock, and an abort ends the wait for it', async () => {
  await assert.rejects(
    withLock(file, () => Promise.reject(new Error('work failed'))),
    /work failed/,
  );
  await withLock(file, async () => {
    const impatient = new AbortController();
    const waiting = withLock(file, () => Promise.resolve('never'), {
      signal: impatient.signal,
      onWait: () => impatient.abort(new Error('waited long enough')),
    });
    await assert.rejects(waiting, /waited long enough/);
  });
});

test('a holder that is killed holds nothing any more', async () => {
  const module = JSON.stringify(join(import.meta.dirname, 'with-lock.ts'));
  const program = `import { withLock } from ${module};
    await withLock(${JSON.stringify(file)}, () => { console.log('held'); return new Promise(() => setInterval(() => {}, 1e6)); });`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(createInterface({ input: holder.stdout }), 'line');
  holder.kill('SIGKILL');
  assert.equal(
    await withLock(file, () => Promise.resolve('mine'), { signal: AbortSignal.timeout(60_000) }),
    'mine',
  );
});
