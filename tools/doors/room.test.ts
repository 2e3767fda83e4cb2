import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Crowd, roomFor } from './room.ts';

test('a quiet machine of two cores takes one that computes beside four that wait', () => {
  assert.deepEqual(roomFor(2, 1), { computing: 1, waiting: 4, preparing: 2 });
});

test('the more crowded the machine, the fewer; never none', () => {
  for (const cores of [1, 2, 4, 16]) {
    let before = roomFor(cores, 0);
    for (let crowd = 0; crowd < 50; crowd += 0.5) {
      const room = roomFor(cores, crowd);
      for (const lane of ['computing', 'waiting', 'preparing'] as const) {
        assert.ok(room[lane] >= 1 && room[lane] <= before[lane], `${lane} of ${cores} cores at ${crowd}`);
      }
      before = room;
    }
  }
});

test('the average follows the crowd, and forgets a moment', () => {
  let running = 0;
  const crowd = new Crowd(2, () => running);
  crowd.stop();
  running = 20;
  crowd.look();
  assert.ok(crowd.perCore < 1, 'one look proves nothing');
  for (let look = 0; look < 60; look += 1) crowd.look();
  assert.ok(crowd.perCore > 9);
  running = 0;
  for (let look = 0; look < 60; look += 1) crowd.look();
  assert.ok(crowd.perCore < 1);
});
