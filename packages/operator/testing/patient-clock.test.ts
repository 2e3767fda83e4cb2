import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeSlurm } from './fake-slurm.ts';
import { PatientClock, strictlyLater } from './patient-clock.ts';

test('no two moments are the same, and none is long before the real one', () => {
  const before = Date.now();
  const moments = Array.from({ length: 1000 }, strictlyLater);
  assert.ok(moments.every((moment, at) => at === 0 || moment > (moments[at - 1] ?? 0)));
  assert.ok((moments[0] ?? 0) >= before);
});

test('a list of the fake Slurm answers only writes that were made before it, also within a millisecond', async () => {
  const slurm = new FakeSlurm(() => undefined, { byHand: true });
  const clock = new PatientClock();
  const moment = async () => {
    const view = await slurm.freshView();
    return view.kind === 'known' ? view.at : Number.NaN;
  };
  for (let round = 0; round < 100; round += 1) {
    const listed = await moment();
    const wrote = clock.now();
    assert.ok(listed < wrote, 'a write looked answered by a list that was older');
    assert.ok((await moment()) > wrote, 'a list looked older than the write before it');
  }
});
