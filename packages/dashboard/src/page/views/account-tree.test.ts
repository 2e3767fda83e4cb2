import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountTree } from './account-tree.ts';

const association = (account: string, user: string, parentAccount = '') => ({
  account,
  cluster: 'c',
  user,
  partition: '',
  parentAccount,
  isDefault: false,
  qos: [],
  sharesRaw: 1,
});
const lines = (...all: Parameters<typeof accountTree>) =>
  accountTree(...all).map(({ depth, account, user }) => `${'  '.repeat(depth)}${user || account}`);

test('accounts stand below their parents, users below their account', () => {
  assert.deepEqual(
    lines(
      [],
      [
        association('root', ''),
        association('ml', '', 'root'),
        association('vision', '', 'ml'),
        association('vision', 'bob'),
        association('vision', 'alice'),
        association('root', 'root'),
      ],
    ),
    ['root', '  root', '  ml', '    vision', '      alice', '      bob'],
  );
});

test('accounts whose parents lead in a circle are shown once each, and none is lost', () => {
  assert.deepEqual(lines([], [association('a', '', 'b'), association('b', '', 'a')]), ['a', '  b']);
});
