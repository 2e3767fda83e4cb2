import assert from 'node:assert/strict';
import { test } from 'node:test';
import { account } from './account.ts';
import { type Blow, setDown } from './blow-log.ts';
import { isCut } from './cut-sruns.ts';
import { PeoplesOrders } from './peoples-orders.ts';
import type { JobTimes } from './slurmctld-log.ts';
import type { TrackedJob } from './workload.ts';

const job = (over: Partial<TrackedJob>): TrackedJob => ({
  id: 1,
  kind: 'batch',
  single: true,
  state: '',
  partition: 'all',
  acceptedAt: 100_000,
  seconds: 10,
  runs: [{ node: 'w-0', from: 110_000, until: 120_000 }],
  restarts: 0,
  end: 'COMPLETED',
  ...over,
});
const deleted = (at: number): Blow => ({ what: 'pod deleted', worker: 'w-0', at });
const countsOf = (
  one: TrackedJob,
  blows: Blow[],
  kills: number[] = [],
  restarts: number[] = [],
  starts: JobTimes = new Map(),
  ends: JobTimes = new Map(),
  putBack: JobTimes = new Map(),
) => {
  const told = account(
    [one],
    blows,
    { kills, restarts, starts, ends, putBack, refused: new Map() },
    () => {},
  );
  const { jobs_lost, jobs_requeued_by_operator, jobs_lost_by_slurm } = told;
  return { jobs_lost, jobs_requeued_by_operator, jobs_lost_by_slurm };
};
const nothing = { jobs_lost: 0, jobs_requeued_by_operator: 0, jobs_lost_by_slurm: 0 };

test('a job that completed at its first attempt is not lost, whatever happened to its worker later', () => {
  assert.deepEqual(countsOf(job({}), [deleted(115_000)]), nothing);
});

test('a job is ours when the operator struck its worker while it ran there, in whichever of its runs', () => {
  const twice = [
    { node: 'w-0', from: 110_000, until: 120_000 },
    { node: 'w-1', from: 130_000, until: 140_000 },
  ];
  assert.deepEqual(countsOf(job({ restarts: 1, runs: twice }), [deleted(119_000)]), {
    ...nothing,
    jobs_requeued_by_operator: 1,
  });
  assert.deepEqual(countsOf(job({ end: 'NODE_FAIL' }), [deleted(119_000)], [111_000]), {
    ...nothing,
    jobs_lost: 1,
  });
});

test('a job that began twice for no known reason counts as requeued by the operator', () => {
  const runs = [
    { node: 'w-0', from: 110_000, until: 120_000 },
    { node: 'w-1', from: 130_000, until: 140_000 },
  ];
  const requeued = { ...nothing, jobs_requeued_by_operator: 1 };
  assert.deepEqual(countsOf(job({ restarts: 1, runs }), [deleted(135_000)]), requeued);
  assert.deepEqual(countsOf(job({ restarts: 1, runs }), []), requeued);
  const putBack = new Map([[1, [121_000]]]);
  const none = new Map();
  assert.deepEqual(countsOf(job({ restarts: 1, runs }), [], [], [], none, none, putBack), nothing);
  assert.deepEqual(countsOf(job({ restarts: 2, runs }), [], [], [], none, none, putBack), requeued);
});

test('a part of a heterogeneous job ends by what ended the other part, and without such a cause it is lost', () => {
  const story = {
    kills: [],
    restarts: [],
    starts: new Map(),
    ends: new Map(),
    putBack: new Map(),
    refused: new Map(),
  };
  const orders = new PeoplesOrders();
  orders.remove('a', 'uid', 'Delete', 119_000);
  const first = job({
    kind: 'pair',
    end: 'CANCELLED',
    runs: [{ node: 'a-0', from: 110_000, until: 120_000 }],
  });
  const second = job({
    id: 2,
    kind: 'array',
    end: 'FAILED',
    runs: [{ node: 'b-0', from: 110_000, until: 120_000 }],
  });
  const lost = (parts: TrackedJob[]) => account(parts, [], story, () => {}, orders).jobs_lost;
  assert.equal(lost([first, second]), 0);
  assert.equal(lost([second]), 1);
  assert.equal(lost([{ ...first, kind: 'batch' }, second]), 1);
});

test('a run that was cut off between two looks is ours when the operator struck anywhere between them', () => {
  const runs = [
    { node: 'w-0', from: 110_000, until: 112_000, cutBy: 135_000 },
    { node: 'w-1', from: 134_000, until: 144_000 },
  ];
  assert.deepEqual(countsOf(job({ restarts: 1, runs }), [deleted(130_000)]), {
    ...nothing,
    jobs_requeued_by_operator: 1,
  });
  const forgotten = countsOf(job({ restarts: 1, runs }), [deleted(130_000)], [112_000]);
  assert.deepEqual(forgotten, { ...nothing, jobs_lost_by_slurm: 1 }, 'slurmctld had not saved its start');
});

test('a job that slurmctld starts on a worker whose end it forgot when it was killed is Slurm’s loss', () => {
  const runs = [
    { node: 'w-0', from: 130_000, until: 131_000, cutBy: 190_000 },
    { node: 'w-1', from: 191_000, until: 201_000 },
  ];
  const counts = (deletedAt: number, killedAt: number) =>
    countsOf(job({ restarts: 1, runs }), [deleted(deletedAt)], [killedAt]);
  assert.deepEqual(counts(121_000, 123_000), { ...nothing, jobs_lost_by_slurm: 1 });
  assert.deepEqual(counts(111_000, 123_000), { ...nothing, jobs_requeued_by_operator: 1 });
});

test('what slurmctld had not saved when it was killed is Slurm’s loss; what it had, is not', () => {
  assert.deepEqual(countsOf(job({ end: 'GONE', runs: [] }), [], [104_000]), {
    ...nothing,
    jobs_lost_by_slurm: 1,
  });
  assert.deepEqual(countsOf(job({ end: 'GONE', runs: [] }), [], [106_000]), { ...nothing, jobs_lost: 1 });
  assert.deepEqual(countsOf(job({ end: 'FAILED' }), []), { ...nothing, jobs_lost: 1 }, 'unexplained is lost');
});

test('a job whose start slurmctld lost, starts again and holds, is Slurm’s; without a kill before it is unexplained', () => {
  const held = { words: 'launch failed requeued held', at: 150_000 };
  const again = job({ restarts: 1, held, runs: [{ node: 'w-1', from: 160_000, until: 170_000 }] });
  assert.deepEqual(countsOf(again, [], [140_000]), { ...nothing, jobs_lost_by_slurm: 1 });
  assert.deepEqual(countsOf(again, []), { ...nothing, jobs_requeued_by_operator: 1 });
  assert.deepEqual(countsOf({ ...again, end: 'CANCELLED' }, [], [90_000, 151_000]), {
    ...nothing,
    jobs_lost: 1,
  });
});

test('a start that is only in slurmctld’s log counts: the job ends with the first run that ended', () => {
  const again = job({
    end: 'FAILED',
    acceptedAt: 90_000,
    runs: [{ node: 'w-0', from: 150_000, until: 150_000 }],
  });
  const starts = new Map([[1, [125_000, 150_000]]]);
  assert.deepEqual(countsOf(again, [], [126_000], [], starts), { ...nothing, jobs_lost_by_slurm: 1 });
  assert.deepEqual(countsOf(again, [], [126_000]), { ...nothing, jobs_lost: 1 });
});

test('a job whose end slurmctld forgot is Slurm’s', () => {
  assert.deepEqual(countsOf(job({ end: 'CANCELLED' }), [], [121_000]), { ...nothing, jobs_lost_by_slurm: 1 });
  assert.deepEqual(countsOf(job({ end: 'CANCELLED' }), [], [150_000]), { ...nothing, jobs_lost: 1 });
  const cleared = job({ end: 'CANCELLED', runs: [{ node: 'w-0', from: 110_000, until: 180_000 }] });
  assert.deepEqual(
    countsOf(cleared, [deleted(181_000)], [121_000]),
    { ...nothing, jobs_lost_by_slurm: 1 },
    'its worker was removed after an administrator cancelled a job that had ended a minute before',
  );
  assert.deepEqual(
    countsOf(cleared, [deleted(119_000)], [121_000]),
    { ...nothing, jobs_lost: 1 },
    'it ran then',
  );
  assert.deepEqual(
    countsOf(cleared, [deleted(181_000)]),
    { ...nothing, jobs_lost: 1 },
    'nothing was forgotten',
  );
  const reported = new Map([[1, [120_500]]]);
  assert.deepEqual(
    countsOf(cleared, [deleted(121_000)], [121_300], [], new Map(), reported),
    { ...nothing, jobs_lost_by_slurm: 1 },
    'its worker had reported the end before the operator took it, and slurmctld was killed right after',
  );
});

test('a job that is put back because slurmctld forgot the end that its worker had reported is Slurm’s', () => {
  const runs = [
    { node: 'w-0', from: 110_000, until: 145_000, cutBy: 151_000 },
    { node: 'w-1', from: 180_000, until: 190_000 },
  ];
  const again = job({ restarts: 1, runs });
  const counts = (end: number, kill: number) =>
    countsOf(again, [], [kill], [], new Map(), new Map([[1, [end, 150_000, 190_000]]]));
  const requeued = { ...nothing, jobs_requeued_by_operator: 1 };
  assert.deepEqual(counts(117_000, 118_000), { ...nothing, jobs_lost_by_slurm: 1 });
  assert.deepEqual(counts(117_000, 123_000), requeued, 'saved long before');
  assert.deepEqual(counts(119_000, 118_000), requeued, 'the end came after the kill');
  assert.deepEqual(counts(105_000, 107_500), requeued, 'of another run');
  const cancelled = job({
    end: 'CANCELLED',
    seconds: 3,
    runs: [{ node: 'w-0', from: 110_000, until: 133_000 }],
  });
  const ends = new Map([[1, [133_000]]]);
  const late = countsOf(cancelled, [], [133_500], [], new Map(), ends);
  assert.deepEqual(
    late,
    { ...nothing, jobs_lost_by_slurm: 1 },
    'an administrator cancelled it; it took long on a busy machine',
  );
  assert.deepEqual(countsOf(cancelled, [], [140_000], [], new Map(), ends), { ...nothing, jobs_lost: 1 });
});

test('a job that people cancelled, which a kill -9 made slurmctld forget, ended by their order whatever Slurm calls it', () => {
  const orders = new PeoplesOrders();
  orders.cancel(1);
  const failed = job({ end: 'NODE_FAIL', runs: [] });
  const lost = (at: number, kill: number, given = orders) => {
    const story = { kills: [kill], restarts: [], starts: new Map(), ends: new Map(), putBack: new Map() };
    const cancels = new Map([[1, [at]]]);
    return account([failed], [], { ...story, refused: new Map(), cancels }, () => {}, given).jobs_lost;
  };
  assert.equal(lost(200_000, 203_000), 0);
  assert.equal(lost(200_000, 206_000), 1, 'slurmctld had saved that');
  assert.equal(lost(200_000, 199_000), 1, 'the kill came before');
  assert.equal(lost(200_000, 203_000, new PeoplesOrders()), 1, 'no one ordered it');
});

test('a job that was over its limit when slurmctld came back is told apart; one that ran too long is lost', () => {
  assert.deepEqual(countsOf(job({ end: 'TIMEOUT' }), [], [], [118_000]), nothing);
  assert.deepEqual(countsOf(job({ end: 'TIMEOUT' }), []), { ...nothing, jobs_lost: 1 });
});

test('jobs that never ran were not run', () => {
  const told = account(
    [job({}), job({ id: 2, runs: [], end: 'GONE' })],
    [],
    { kills: [], restarts: [], starts: new Map(), ends: new Map(), putBack: new Map(), refused: new Map() },
    () => {},
  );
  assert.equal(told.jobs_run, 1);
});

test('a node that the operator set DOWN is found in its log, behind half a line of one that was killed too', () => {
  const line = (name: string) =>
    `{"level":"info","time":"2026-01-02T03:04:05.678Z","action":{"kind":"set-down","slurmName":"${name}","reason":"r"},"msg":"done"}`;
  const found = setDown(
    `${line('w-0')}\n{"level":"info","time":"2026-01-01T00:00:00.000Z","act${line('w-1')}\nno json\n`,
  );
  assert.deepEqual(
    found.map(({ worker }) => worker),
    ['w-0', 'w-1'],
  );
  assert.equal(found[0]?.at, Date.UTC(2026, 0, 2, 3, 4, 5, 678));
});

test('a second job of a number whose first job a kill -9 made slurmctld forget is hurt by that kill', () => {
  const second = job({ acceptedAt: 100_000, restarts: 1, runs: [], end: 'CANCELLED' });
  const hurt = (accepted: readonly number[], kills: number[]) => {
    const story = { kills, restarts: [], starts: new Map(), ends: new Map(), putBack: new Map() };
    const givenTwice = new Map([[1, accepted]]);
    return account([second], [], { ...story, refused: new Map(), givenTwice }, () => {}).jobs_lost_by_slurm;
  };
  assert.equal(hurt([70_000, 100_000], [74_000]), 1);
  assert.equal(hurt([70_000, 100_000], [90_000]), 0, 'the first one was saved long before the kill');
  assert.equal(hurt([70_000, 100_000], []), 0);
});

test('a kill -9 right after the first start of a job does not explain that it failed in another run minutes later', () => {
  const runs = [
    { node: 'w-0', from: 110_000, until: 114_000 },
    { node: 'w-1', from: 400_000, until: 400_000 },
  ];
  const failed = (over: Partial<TrackedJob>) => job({ end: 'FAILED', endedAt: 400_000, runs, ...over });
  assert.deepEqual(countsOf(failed({}), [], [112_000]), { ...nothing, jobs_lost: 1 });
  const soon = { endedAt: 150_000, runs: [runs[0] as never, { node: 'w-1', from: 149_000, until: 150_000 }] };
  assert.deepEqual(countsOf(failed(soon), [], [112_000]), { ...nothing, jobs_lost_by_slurm: 1 });
});

test('a job that no worker has begun, because slurmctld read its files again when it gave it a node, was put back by Slurm', () => {
  const runs = [
    { node: 'w-0', from: 110_000, until: 400_000, cutBy: 400_000 },
    { node: 'w-1', from: 430_000, until: 440_000 },
  ];
  const unsent = job({ restarts: 1, runs });
  const counts = (launches: readonly number[], endings: readonly number[]) => {
    const none = new Map();
    const story = { kills: [], restarts: [], starts: none, ends: none, putBack: none, refused: none };
    const told = account([unsent], [], { ...story, launches: new Map([[1, launches]]), endings }, () => {});
    return [told.jobs_requeued_by_operator, told.jobs_lost_by_slurm];
  };
  assert.deepEqual(counts([430_500], [110_900]), [0, 1]);
  // Its worker had begun it, or slurmctld went on for long.
  assert.deepEqual(counts([110_700, 430_500], [110_900]), [1, 0]);
  assert.deepEqual(counts([430_500], [115_000]), [1, 0]);
  assert.deepEqual(counts([430_500], []), [1, 0]);
});

test("a job that was never sent and was put back before the operator deleted its worker is not the operator's", () => {
  const runs = [
    { node: 'w-0', from: 110_000, until: 400_000, cutBy: 400_300 },
    { node: 'w-1', from: 430_000, until: 440_000 },
  ];
  const counts = (deletedAt: number, launches: readonly number[] = [430_500]) => {
    const none = new Map();
    const story = { kills: [], restarts: [], starts: none, ends: none, putBack: none, refused: none };
    const sent = { ...story, launches: new Map([[1, launches]]), endings: [110_900] };
    const told = account([job({ restarts: 1, runs })], [deleted(deletedAt)], sent, () => {});
    return [told.jobs_requeued_by_operator, told.jobs_lost_by_slurm];
  };
  assert.deepEqual(counts(400_500), [0, 1]);
  assert.deepEqual(counts(400_200), [1, 0], 'it may have been put back because of the delete');
  assert.deepEqual(counts(400_500, [110_700, 430_500]), [1, 0], 'its worker had begun it');
});

test('a job whose srun lost slurmctld when that ended was ended by Slurm, by its own output', () => {
  const failed = job({ kind: 'steps', end: 'FAILED' });
  const counts = (output: string, endings: readonly number[]) => {
    const none = new Map();
    const story = { kills: [], restarts: [], starts: none, ends: none, putBack: none, refused: none };
    const cutSruns = new Set(isCut(output) ? [1] : []);
    const launches = new Map([[1, [110_500]]]);
    const told = account([failed], [], { ...story, launches, endings, cutSruns }, () => {});
    return [told.jobs_lost, told.jobs_lost_by_slurm];
  };
  const reset = 'srun: error: Unable to create step for job 94: Connection reset by peer\n';
  assert.deepEqual(counts(reset, [117_000]), [0, 1]);
  assert.deepEqual(counts(reset, [300_000]), [1, 0]);
  assert.deepEqual(counts('srun: error: w-0: task 0: Exited with exit code 1\n', [117_000]), [1, 0]);
});
