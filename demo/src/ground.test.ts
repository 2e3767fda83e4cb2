import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Ground, refusal } from './ground.ts';

const free: Ground = {
  foreignNamespaces: [],
  foreignDefinitions: [],
  ownDefinitions: [],
  ownNamespaces: [],
};

for (const [reason, ground, said] of [
  ['free ground is taken', free, undefined],
  [
    'its own is taken again',
    { ...free, ownNamespaces: ['slurm-demo'], ownDefinitions: ['tokens.slinky.slurm.net'] },
    undefined,
  ],
  [
    'a namespace of another user is not',
    { ...free, foreignNamespaces: ['slurm-demo'] },
    /namespace slurm-demo exists/,
  ],
  [
    'nor a cluster with an operator of its own',
    { ...free, foreignDefinitions: ['nodesets.slinky.slurm.net'] },
    /nodesets\.slinky\.slurm\.net.*two of them would fight/,
  ],
] as const)
  test(reason, () => {
    const answer = refusal(ground);
    if (said === undefined) assert.equal(answer, undefined);
    else {
      assert.match(answer ?? '', said);
      assert.match(answer ?? '', /Nothing was changed/);
    }
  });
