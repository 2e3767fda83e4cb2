import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotLeaderError, systemClock } from '@slurm-operator/kube';
import { signedToken } from '@slurm-operator/slurm';
import { ConnectionPool, debugVars, PollLoad } from './pool.ts';

const key = Buffer.from('a-signing-key-of-thirty-two-bytes-and-more');

test('/debug/vars tells of every connection, and neither its credential nor its key', async () => {
  const pool = new ConnectionPool(systemClock);
  await pool.use('hpc/slurm', 'print', () => ({
    server: 'http://127.0.0.1:1',
    token: signedToken({ key, user: 'slurm' }),
  }));
  const vars = debugVars(pool);
  const [first] = vars.slurmClients;
  assert.deepEqual(
    [vars.slurmClients.length, first?.cluster, first?.server],
    [1, 'hpc/slurm', 'http://127.0.0.1:1'],
  );
  assert.equal(first?.nodes, undefined, 'unknown is not zero');
  const text = JSON.stringify(vars);
  for (const secret of ['print', key.toString(), key.toString('base64'), 'eyJ'])
    assert.equal(text.includes(secret), false, secret);
  await pool.close();
  assert.deepEqual(debugVars(pool), { slurmClients: [] });
});

test('a connection of the same fingerprint is kept, another replaces it', async () => {
  const pool = new ConnectionPool(systemClock);
  const open = (print: string) =>
    pool.use('hpc/slurm', print, () => ({
      server: 'http://127.0.0.1:1',
      token: signedToken({ key, user: 'slurm' }),
    }));
  const first = await open('one');
  assert.equal(await open('one'), first);
  const second = await open('two');
  assert.notEqual(second, first);
  assert.equal(pool.get('hpc/slurm'), second);
  await pool.remove('hpc/slurm');
  assert.equal(pool.gateways('hpc', 'slurm'), undefined, 'callers learn that nothing is known');
  await pool.close();
});

test('what Slurm had is known for ten minutes after its connection was replaced, as with a new jwt.key', async (t) => {
  let now = 1_000;
  const pool = new ConnectionPool({ ...systemClock, now: () => now });
  t.after(() => pool.close());
  const open = (print: string) =>
    pool.use('hpc/slurm', print, () => ({
      server: 'http://127.0.0.1:1',
      token: signedToken({ key, user: 'slurm' }),
    }));
  const { gateway } = await open('one');
  assert.equal(pool.lastPartitions('hpc/slurm'), undefined);
  Object.assign(gateway, { lastNodes: () => [{ partitions: ['all', 'adhoc'] }] });
  await open('two');
  await open('three');
  assert.deepEqual([...(pool.lastPartitions('hpc/slurm') ?? [])], ['all', 'adhoc']);
  now += 10 * 60_000;
  assert.equal(pool.lastPartitions('hpc/slurm'), undefined);
});

test('a replica that does not lead any more changes nothing in Slurm', async (t) => {
  const pool = new ConnectionPool(systemClock, () => {
    throw new NotLeaderError('another one leads');
  });
  t.after(() => pool.close());
  const { gateway } = await pool.use('hpc/slurm', 'print', () => ({
    server: 'http://127.0.0.1:1',
    token: signedToken({ key, user: 'slurm' }),
  }));
  const signal = AbortSignal.timeout(60_000);
  for (const [what, write] of Object.entries({
    update: () => gateway.updateNode('w-0', { state: 'DOWN', reason: 'x' }, signal),
    delete: () => gateway.deleteNode('w-0', signal),
    reserve: () => gateway.writeReservation({ name: 'r' }, signal),
    release: () => gateway.deleteReservation('r', signal),
  }))
    await assert.rejects(write, NotLeaderError, what);
});

test('a few connections poll five times a second, many share the time, and none is slower than once a second', () => {
  const load = new PollLoad();
  const connections = Array.from({ length: 200 }, () => ({}));
  const at = (count: number) => {
    for (const [index, connection] of connections.entries()) load.set(connection, index < count);
    return load.fastMs;
  };
  assert.deepEqual([0, 1, 8, 20, 50, 200].map(at), [200, 200, 200, 500, 1000, 1000]);
});
