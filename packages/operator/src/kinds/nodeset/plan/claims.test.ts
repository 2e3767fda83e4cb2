/** What happens to the claims of removed workers (law L5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { Observed } from '../model/observed.ts';
import { planWorkers } from './plan-workers.ts';

const ours = 'slurm-operator: Pod (slurm/w-0) is pending termination for scale-in';

/** What is decided; that conditions follow Slurm's state has a test of its own. */
const kinds = (given: Observed) =>
  planWorkers(given, now)
    .actions.map((action) => action.kind)
    .filter((kind) => kind !== 'mirror-state');

test('upstream item 3: a rollout or a cordon deletes no claim, a scale-in does if the policy says so', () => {
  const claim = {
    name: 'd-0',
    uid: 'c',
    slot: { mode: 'StatefulSet', ordinal: 0 },
    ownedByNodeSet: false,
    scaledIn: false,
    terminating: false,
  } as const;
  const deleting = { retention: { whenScaled: 'Delete', whenDeleted: 'Retain' }, claims: [claim] } as const;
  const drained = slurmNode(0, { flags: new Set(['DRAIN']), reason: ours });
  const cordoned = worker(0, { cordoned: true, cordonCause: 'scale-in' });
  assert.deepEqual(
    kinds(observed([cordoned], [drained], { replicas: 0, ...deleting })),
    ['mark-claim'],
    'marked before the pod goes',
  );
  const marked = { ...deleting, claims: [{ ...claim, scaledIn: true }] };
  assert.deepEqual(kinds(observed([cordoned], [drained], { replicas: 0, ...marked })), ['delete-worker']);
  assert.deepEqual(kinds(observed([], [], { replicas: 0, ...marked })), ['delete-claim']);
  const rolling = observed([worker(0, { revision: 'r0' })], [slurmNode(0)], deleting);
  assert.ok(!kinds(rolling).includes('mark-claim'));
  assert.deepEqual(
    kinds(observed([], [drained], { replicas: 1, ...deleting })),
    ['create-worker'],
    'a slot that is to be filled keeps its claim and record',
  );
});

test('a mark is removed when the slot is needed again or the policy has changed; a claim that is being deleted is left alone', () => {
  const claim = {
    name: 'd-0',
    uid: 'c',
    slot: { mode: 'StatefulSet', ordinal: 0 },
    ownedByNodeSet: false,
    scaledIn: true,
    terminating: false,
  } as const;
  const given = (over: Partial<Observed>) =>
    planWorkers(observed([], [], { replicas: 0, claims: [claim], ...over }), now).actions.filter(({ kind }) =>
      kind.endsWith('claim'),
    );
  const unmark = [{ kind: 'mark-claim', name: 'd-0', uid: 'c', scaledIn: false }];
  const whenScaled = (policy: 'Retain' | 'Delete') =>
    ({ retention: { whenScaled: policy, whenDeleted: 'Retain' } }) as const;
  assert.deepEqual(given(whenScaled('Retain')), unmark, 'the user has changed their mind');
  assert.deepEqual(given({ ...whenScaled('Delete'), replicas: 1 }), unmark, 'its slot is needed again');
  assert.deepEqual(given(whenScaled('Delete')), [{ kind: 'delete-claim', name: 'd-0', uid: 'c' }]);
  assert.deepEqual(given({ ...whenScaled('Retain'), claims: [{ ...claim, terminating: true }] }), []);
});
