import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { OverlayView } from './overlay-view.ts';

let scratch = '';
let view: OverlayView;
before(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'overlay-view-'));
  const [upper, lower] = [join(scratch, 'upper'), join(scratch, 'lower')];
  await mkdir(join(upper, 'etc'), { recursive: true });
  await mkdir(join(lower, 'etc'), { recursive: true });
  await mkdir(join(lower, 'run/lock'), { recursive: true });
  await mkdir(join(lower, 'var'));
  await symlink('/run', join(lower, 'var/run'));
  await symlink('../../../../../../etc', join(lower, 'var/up'));
  await symlink('loop', join(lower, 'loop'));
  await writeFile(join(lower, 'etc/passwd'), 'lower');
  await writeFile(join(lower, 'etc/group'), 'lower');
  await writeFile(join(upper, 'etc/passwd'), 'upper');
  view = new OverlayView(upper, [lower]);
});
after(() => rm(scratch, { recursive: true }));

test('links are followed inside the root, never out of it', async () => {
  for (const [path, resolved] of [
    ['/var/run/lock', '/run/lock'],
    ['/var/run/new/file', '/run/new/file'],
    ['/var/up/passwd', '/etc/passwd'],
    ['/../../etc', '/etc'],
    ['/var/run/../etc', '/var/etc'],
  ] as const)
    assert.equal(await view.resolve(path), resolved, path);
  await assert.rejects(view.resolve('/loop/x'), /loop of links/);
  await assert.rejects(view.resolve('relative'), /must be absolute/);
});

test('the own layer hides the shared one', async () => {
  assert.equal(await view.readText('/etc/passwd'), 'upper');
  assert.equal(await view.readText('/etc/group'), 'lower');
  assert.equal(await view.readText('/etc/none'), undefined);
  assert.ok(await view.exists('/var/run/lock'));
  assert.ok(!(await view.exists('/var/run/none')));
});

test('mount points are made in the own layer only where nothing is', async () => {
  assert.equal(await view.ensureMountPoint('/var/run/lock', 'directory'), '/run/lock');
  assert.equal(await view.ensureMountPoint('/var/run/slurm/conf', 'file'), '/run/slurm/conf');
  assert.equal(await readFile(join(scratch, 'upper/run/slurm/conf'), 'utf8'), '');
  await assert.rejects(readFile(join(scratch, 'lower/run/slurm/conf')));
});
