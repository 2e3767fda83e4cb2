import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { aController, anAccounting } from '../../../testing/objects.ts';
import { daemonHash, formatKeySet } from '../../keys/key-set.ts';
import { keysOfAccounting } from '../../keys/slurm-key.ts';
import { observeController } from './observe.ts';

const controller = (name: string, over: object = {}) =>
  aController({ accountingRef: { name: 'slurm' }, ...over }, { name });
const set = { keys: ['a', 'b'], signing: 'a', since: 0, used: true };

/** A cache with these Controllers, the Accounting, and a Secret of keys for those that are named. */
function cacheOf(all: readonly { metadata: { name: string } }[], withKeys: readonly string[]) {
  const accounting = anAccounting();
  return {
    list: (kind: { plural?: string }) => (kind.plural === 'controllers' ? all : []),
    get: (kind: { plural?: string }, { name }: { name: string }) => {
      if (kind.plural === 'accountings') return name === 'slurm' ? accounting : undefined;
      if (kind.plural !== 'secrets') return undefined;
      if (withKeys.some((one) => name === `${one}-slurm-keys`))
        return { metadata: { annotations: { [annotation.slurmKeys]: formatKeySet(set) } } };
      return name === 'slurm-auth' ? { data: { 'slurm.key': 'of the user' } } : undefined;
    },
  } as never;
}

test('slurmdbd follows the first Controller that uses it with the same key, before its keys are written too', () => {
  const two = [controller('b'), controller('a')];
  const digest = daemonHash(set);
  assert.deepEqual(keysOfAccounting(cacheOf(two, ['a']), anAccounting()), { controller: 'a', digest });
  assert.deepEqual(keysOfAccounting(cacheOf(two, []), anAccounting()), {
    controller: 'a',
    digest: 'of the user',
  });
  const other = controller('a', { slurmKeyRef: { name: 'other', key: 'slurm.key' } });
  assert.equal(keysOfAccounting(cacheOf([other], ['a']), anAccounting()), undefined);
  assert.equal(
    keysOfAccounting(cacheOf([controller('a', { external: true })], []), anAccounting()),
    undefined,
  );
});

test('of several Controllers on one slurmdbd only the one that it follows waits for it', () => {
  const two = [controller('a'), controller('b')];
  const wanted = two.map(
    (one) => observeController(cacheOf(two, ['a', 'b']), one as never).keyClients?.slurmdbd,
  );
  assert.deepEqual(wanted, [1, 0]);
});
