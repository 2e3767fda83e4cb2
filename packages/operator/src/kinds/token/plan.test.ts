import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aToken } from '../../../testing/objects.ts';
import { outcome } from '../../../testing/outcome.ts';
import { describeActions, Sensitive } from '../../framework/actions.ts';
import type { ObservedToken } from './observe.ts';
import { planToken } from './plan.ts';
import { tokenStatus } from './reconciler.ts';

const now = Date.UTC(2026, 0, 2);
const secret = (name: string, over: object = {}) => ({
  metadata: { name, namespace: 'hpc', uid: `uid-of-${name}`, resourceVersion: '7', ...over },
});
const observed = (over: Partial<ObservedToken> = {}, spec: object = {}): ObservedToken => ({
  token: aToken({ refresh: true, ...spec }),
  keyRef: { name: 'slurm-jwt', key: 'jwt.key' },
  keySecret: secret('slurm-jwt') as ObservedToken['keySecret'],
  key: new Sensitive(Buffer.alloc(32, 7)),
  stored: undefined,
  facts: undefined,
  isControllersKey: true,
  ...over,
});
const ofKey = (over: object = {}) =>
  ({
    ...secret('slurm-token-alice', {
      ownerReferences: [{ uid: 'uid-of-slurm-jwt', controller: true, kind: 'Secret', name: 'slurm-jwt' }],
      ...over,
    }),
  }) as ObservedToken['stored'];
const facts = (username: string) => ({ username, issuedAt: now - 1000, expiresAt: now + 900_000 });

test('a Token without a Secret gets one, and the plan can be printed without the token', () => {
  const plan = planToken(observed(), now);
  assert.match(describeActions(plan.actions).join(), /^apply Secret \S+$/);
  assert.equal(plan.renewal?.facts?.username, 'alice');
  assert.equal(plan.lookAgainAt, now + 0.8 * 900_000);
});

test('a Secret that upstream owns through the key is taken over, and its token stays', () => {
  const plan = planToken(observed({ stored: ofKey(), facts: facts('alice') }), now);
  assert.match(describeActions(plan.actions).join(), /^patch Secret \S+$/);
});

test('a token for root is signed only after the consent is recorded on the key', () => {
  const root = { username: 'root' };
  assert.deepEqual(
    planToken(observed({}, root), now).problems.map(({ reason }) => reason),
    ['UserNotAllowed'],
  );
  const expired = { ...facts('root'), expiresAt: now - 1 };
  const lines = describeActions(planToken(observed({ stored: ofKey(), facts: expired }, root), now).actions);
  assert.equal(lines[0], 'patch Secret slurm-jwt');
  assert.ok(lines.length > 1 && lines.slice(1).every((line) => line.endsWith(' after Secret slurm-jwt')));
});

test('a refused user id is explained as one', () => {
  const { actions, problems } = planToken(observed({}, { username: '0' }), now);
  assert.deepEqual(actions, []);
  assert.match(problems[0]?.message ?? '', /^Slurm reads 0 as a user id, .*token-users=0, or choose another/);
});

test('an immutable Secret of this Token is deleted before the new token is written', () => {
  const token = observed().token;
  const own = { ownerReferences: [{ uid: token.metadata.uid }] };
  const stored = { ...secret('t', own), immutable: true } as ObservedToken['stored'];
  const lines = describeActions(planToken(observed({ stored }), now).actions);
  assert.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    ['delete', 'apply'],
  );
});

test('a write that fails leaves the times of the token that is still stored', () => {
  const seen = observed({ facts: { ...facts('alice'), issuedAt: now - 890_000, expiresAt: now + 10_000 } });
  const plan = planToken(seen, now);
  const status = (isWritten: boolean) => tokenStatus(outcome(seen, plan, isWritten)).fields?.['expiresAt'];
  assert.equal(status(false), new Date(now + 10_000).toISOString().replace('.000', ''));
  assert.equal(status(true), new Date(now + 900_000).toISOString().replace('.000', ''));
});

test('a key that signs nothing valid is a problem that names its Secret', () => {
  const plan = planToken(observed({ key: new Sensitive(Buffer.alloc(0)) }), now);
  assert.deepEqual(plan.actions, []);
  assert.match(plan.problems[0]?.message ?? '', /^Secret slurm-jwt: /);
});

test('the Secret carries the labels and annotations of its Token, as upstream writes them', () => {
  const token = aToken({ refresh: true });
  const marked = {
    ...token,
    metadata: {
      ...token.metadata,
      labels: { team: 'a', 'helm.sh/chart': 'x-1' },
      annotations: {
        'reflector.example/allowed': 'true',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
      },
    },
  };
  const [action] = planToken(observed({ token: marked }), now).actions;
  const { metadata } = (action as unknown as { object: { metadata: Record<string, object> } }).object;
  assert.deepEqual(metadata['annotations'], { 'reflector.example/allowed': 'true' });
  assert.deepEqual(
    Object.keys(metadata['labels'] ?? {}).filter((key) => !key.startsWith('app.')),
    ['team'],
  );
});
