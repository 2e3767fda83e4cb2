import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '@slurm-operator/slurm/testing';
import { Access } from './access.ts';
import { Login } from './login.ts';
import { Sessions } from './sessions.ts';

const alice = { username: 'alice', groups: ['hpc'] };
const { signal } = new AbortController();

test('a session ends with its time, with its token, and with a logout', () => {
  const clock = new ManualClock(1_000);
  const sessions = new Sessions({ clock, lifetimeMs: 1_000 });
  const long = sessions.begin(alice, 'token');
  const short = sessions.begin(alice, 'token', 1_500);
  assert.equal(sessions.find(long)?.user.username, 'alice');
  clock.advance(600);
  assert.equal(sessions.find(short), undefined, 'its token has ended');
  assert.ok(sessions.find(long));
  assert.equal(sessions.end(long)?.user.username, 'alice');
  assert.equal(sessions.find(long), undefined, 'a stolen cookie is worth nothing after a logout');
  const late = sessions.begin(alice, 'token');
  clock.advance(1_001);
  assert.equal(sessions.find(late), undefined);
});

test('one user cannot take the sessions of others, and their oldest one ends first', () => {
  const sessions = new Sessions({ clock: new ManualClock(0), mostOfUser: 2, most: 4 });
  const bob = sessions.begin({ username: 'bob' }, undefined);
  const first = sessions.begin(alice, undefined);
  for (let more = 0; more < 10; more += 1) sessions.begin(alice, undefined);
  assert.equal(sessions.find(first), undefined);
  assert.ok(sessions.find(bob));
  assert.equal(sessions.size, 3);
});

test('a session cannot be guessed from another one', () => {
  const sessions = new Sessions({ clock: new ManualClock(0) });
  const ids = new Set(Array.from({ length: 15 }, () => sessions.begin(alice, undefined)));
  assert.equal(ids.size, 15);
  for (const id of ids) assert.match(id, /^[\w-]{43}$/);
  assert.equal(sessions.find(''), undefined);
});

test('a right is asked once in its time, for each user, group and cluster of its own', async () => {
  const clock = new ManualClock(0);
  const asked: string[] = [];
  const access = new Access({
    clock,
    review: async (user, { verb, resource, subresource, name }) => {
      asked.push(`${user.username} ${verb} ${resource}/${subresource} ${name}`);
      return user.groups?.includes('hpc') === true;
    },
  });
  const cluster = { namespace: 'slurm', name: 'slurm' };
  assert.equal(await access.may(alice, 'submit', cluster, signal), true);
  assert.equal(await access.may(alice, 'submit', cluster, signal), true);
  assert.equal(await access.may({ username: 'alice', groups: [] }, 'submit', cluster, signal), false);
  assert.equal(await access.may(alice, 'submit', { ...cluster, name: 'other' }, signal), true);
  assert.equal(asked.length, 3);
  clock.advance(11_000);
  await access.may({ username: 'alice', groups: [] }, 'submit', cluster, signal);
  await access.may(alice, 'submit', cluster, signal);
  assert.equal(asked.length, 4, 'a refusal is asked again after ten seconds');
  clock.advance(60_000);
  await access.may(alice, 'submit', cluster, signal);
  assert.equal(asked.length, 5);
});

test('where Kubernetes cannot be asked, nothing is allowed and nothing is remembered', async () => {
  let down = true;
  const access = new Access({
    clock: new ManualClock(0),
    review: () => (down ? Promise.reject(new Error('no answer')) : Promise.resolve(true)),
  });
  const cluster = { namespace: 'slurm', name: 'slurm' };
  await assert.rejects(access.may(alice, 'see', cluster, signal), /no answer/);
  down = false;
  assert.equal(await access.may(alice, 'see', cluster, signal), true);
});

test('a secret of a proxy that can be guessed is refused at the start', () => {
  const clock = new ManualClock(0);
  const proxy = { secretHeader: 'x-secret', secret: 'short', userHeader: 'x-user', groupsHeader: 'x-groups' };
  const options = {
    clock,
    sessions: new Sessions({ clock }),
    review: async () => undefined,
    expiryOf: () => undefined,
  };
  assert.throws(() => new Login({ ...options, proxy }), /x-secret must have at least 32 characters/);
});
