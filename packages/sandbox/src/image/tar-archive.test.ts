import assert from 'node:assert/strict';
import { mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { runCommand } from '../process/run-command.ts';
import { listTar, readMember, writeTar } from './tar-archive.ts';

let scratch = '';
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'tar-archive-'));
});
after(() => rm(scratch, { recursive: true }));

const member = fc.tuple(
  fc.stringMatching(/^[a-z0-9]{1,20}(\/[a-z0-9.]{1,20})?$/),
  fc.uint8Array({ maxLength: 1500 }),
);

test('what is written is read back', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(member, { selector: ([name]) => name, maxLength: 6 }),
      async (members) => {
        const path = join(scratch, 'a.tar');
        await writeTar(path, new Map(members.map(([name, bytes]) => [name, { bytes: Buffer.from(bytes) }])));
        await using archive = await open(path, 'r');
        const found = await listTar(archive);
        assert.deepEqual(
          [...found.keys()],
          members.map(([name]) => name),
        );
        for (const [name, bytes] of members) {
          const place = found.get(name);
          assert.ok(place);
          assert.deepEqual(await readMember(archive, place), Buffer.from(bytes));
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('tar itself agrees: it reads ours, and we read its, with long names', async () => {
  const path = join(scratch, 'b.tar');
  await writeFile(join(scratch, 'input'), 'from a file');
  await writeTar(
    path,
    new Map([
      ['one', { bytes: Buffer.from('1') }],
      ['two', { file: join(scratch, 'input') }],
    ]),
  );
  const { stdout } = await runCommand(['tar', '--list', '--verbose', '--file', path]);
  assert.match(stdout, /-rw-r--r-- 0\/0 +1 1970-01-01 .* one\n-rw-r--r-- 0\/0 +11 1970-01-01 .* two\n/);
  const long = 'n'.repeat(150);
  await writeFile(join(scratch, long), 'long');
  for (const format of ['gnu', 'posix']) {
    await runCommand([
      'tar',
      `--format=${format}`,
      '--create',
      '--file',
      path,
      '--directory',
      scratch,
      `./${long}`,
      './input',
    ]);
    await using archive = await open(path, 'r');
    const found = await listTar(archive);
    assert.deepEqual([...found.keys()], [long, 'input'], format);
    const place = found.get(long);
    assert.ok(place);
    assert.equal((await readMember(archive, place)).toString(), 'long');
  }
});

test('says what is wrong with an archive', async () => {
  const path = join(scratch, 'c.tar');
  const list = async () => {
    await using archive = await open(path, 'r');
    return await listTar(archive);
  };
  await writeFile(path, Buffer.alloc(2048, 'x'));
  await assert.rejects(list, /not a tar archive/);
  await writeTar(path, new Map([['one', { bytes: Buffer.alloc(3000) }]]));
  const whole = await readFile(path);
  await truncate(path, 1500);
  await assert.rejects(list, /cut off: member one has 988 of 3000 bytes/);
  await writeFile(path, whole.subarray(0, whole.length - 1024));
  await assert.rejects(list, /end marker is missing/);
});
