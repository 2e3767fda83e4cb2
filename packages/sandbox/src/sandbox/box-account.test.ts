import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAccount } from './box-account.ts';

const passwd = 'root:x:0:0::/root:/bin/sh\nslurm:x:401:402::/:/bin/sh\n';
const group = 'root:x:0:\nslurm:x:402:\nvideo:x:44:other,slurm\n';

test('accounts by name, number and pair', () => {
  for (const [user, account] of [
    [undefined, { uid: 0, gid: 0, groups: [0] }],
    ['slurm', { uid: 401, gid: 402, groups: [402, 44] }],
    ['401', { uid: 401, gid: 402, groups: [402] }],
    ['401:7', { uid: 401, gid: 7, groups: [7] }],
    ['9999', { uid: 9999, gid: 9999, groups: [9999] }],
  ] as const)
    assert.deepEqual(findAccount(user, passwd, group), account, String(user));
  assert.throws(
    () => findAccount('nobody', passwd, group),
    /user "nobody" is not in the box's \/etc\/passwd/,
  );
});
