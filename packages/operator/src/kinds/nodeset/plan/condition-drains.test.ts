/** Node conditions that drain, and what `SafeToDelete` says: on the plan of the workers, as it is made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { kubeNode, now, observed, slurmNode, worker } from '../../../../testing/observed.ts';
import type { WorkerAction } from '../model/actions.ts';
import { isBusy, isDrained } from '../model/node-state.ts';
import type { KubeNode, Observed, SlurmNode, Worker } from '../model/observed.ts';
import { mirrorState, safeToDeleteType } from './mirror-state.ts';
import { planWorkers } from './plan-workers.ts';

const condition = (from: number | undefined, text = '(Xid: 79)') => ({ type: 'GpuBroken', from, text });
const ours = (text = '(Xid: 79)'): Partial<SlurmNode> => ({
  flags: new Set(['DRAIN']),
  reason: `slurm-operator: Node condition GpuBroken: ${text}`,
});
const safe = new Map([
  ['SlurmNodeStateIdle', ''],
  [safeToDeleteType, 'Slurm node w-0 is drained and has no jobs.'],
]);

function planned(
  on: Partial<KubeNode>,
  node: Partial<SlurmNode> = {},
  over: Partial<Worker> = {},
  more: Partial<Observed> = {},
) {
  const one = worker(0, over);
  const nodes = new Map([[one.nodeName ?? '', kubeNode(one.nodeName ?? '', on)]]);
  return planWorkers(observed([one], [slurmNode(0, node)], { nodes, ...more }), now);
}
const drains = ({ actions }: { readonly actions: readonly WorkerAction[] }) =>
  actions.flatMap((action) =>
    action.kind === 'drain' ? [`drain ${action.reason}`] : action.kind === 'undrain' ? ['undrain'] : [],
  );

test('a condition drains the Slurm node when it has lasted long enough, and not before', () => {
  const early = planned({ drainingConditions: [condition(now + 5_000)] });
  assert.deepEqual(drains(early), []);
  assert.ok(early.wakeAt !== undefined && early.wakeAt <= now + 5_000, 'it is looked at again in time');
  assert.deepEqual(drains(planned({ drainingConditions: [condition(now)] })), [
    'drain slurm-operator: Node condition GpuBroken: (Xid: 79)',
  ]);
});

test('a drain for a condition stays as it is while the message of the condition changes, and ends with it', () => {
  assert.deepEqual(drains(planned({ drainingConditions: [condition(now - 1, '(Xid: 80)')] }, ours())), []);
  assert.deepEqual(drains(planned({ drainingConditions: [] }, ours())), ['undrain']);
});

test('a condition whose status is unknown begins no drain and ends none', () => {
  const unknown = { drainingConditions: [condition(undefined)] };
  assert.deepEqual(drains(planned(unknown)), []);
  assert.deepEqual(drains(planned(unknown, ours())), []);
  const other = { flags: new Set(['DRAIN']), reason: 'slurm-operator: Pod (slurm/w-0) was cordoned' };
  assert.deepEqual(drains(planned(unknown, other)), ['undrain'], 'another drain of ours ends as before');
});

test('a drain by someone else is never touched for a condition, and not when it ends', () => {
  const theirs = { flags: new Set(['DRAIN']), reason: 'bad disk' };
  assert.deepEqual(drains(planned({ drainingConditions: [condition(now - 1)] }, theirs)), []);
  assert.deepEqual(drains(planned({ drainingConditions: [] }, theirs)), []);
});

test('while Slurm is unknown nothing is drained or undrained', () => {
  const slurm = { kind: 'unknown', since: 0, why: 'down' } as const;
  assert.deepEqual(drains(planned({ drainingConditions: [condition(now - 1)] }, {}, {}, { slurm })), []);
});

test('SafeToDelete is withdrawn before a drain ends', () => {
  const first = planned({ drainingConditions: [] }, ours(), { slurmConditions: safe });
  assert.deepEqual(drains(first), []);
  const [mirrored] = first.actions.filter(({ kind }) => kind === 'mirror-state');
  assert.ok(mirrored?.kind === 'mirror-state' && mirrored.over.includes(safeToDeleteType));
  const withdrawn = new Map([['SlurmNodeStateIdle', '']]);
  assert.deepEqual(drains(planned({ drainingConditions: [] }, ours(), { slurmConditions: withdrawn })), [
    'undrain',
  ]);
});

const mirror = (
  node: SlurmNode,
  over: Partial<Worker>,
  slurm: Partial<Extract<Observed['slurm'], { kind: 'known' }>>,
) => {
  const given = observed([worker(0, over)], [node]);
  assert.ok(given.slurm.kind === 'known');
  const seen = { ...given, slurm: { ...given.slurm, ...slurm } };
  return mirrorState(worker(0, over), seen, { staysDrained: true, now });
};

test('SafeToDelete waits for a list of jobs that is newer than that of the nodes', () => {
  const node = slurmNode(0, { flags: new Set(['DRAIN']), reason: 'bad disk' });
  const early = mirror(node, {}, { jobsAfterNodes: false });
  assert.equal(early.wakeAt, now + 2_000);
  assert.ok(
    early.actions.every(
      (action) => action.kind !== 'mirror-state' || !action.conditions.has(safeToDeleteType),
    ),
  );
  const [late] = mirror(node, {}, { jobsAfterNodes: true }).actions;
  assert.ok(late?.kind === 'mirror-state');
  assert.equal(late.conditions.get(safeToDeleteType), 'Slurm node w-0 is drained and has no jobs.');
});

test('a drain of ours that is to end is not safe; one by someone else is, whatever the operator wants', () => {
  for (const [reason, expected] of [
    ['slurm-operator: Pod (slurm/w-0) is pending termination for update', false],
    ['bad disk', true],
  ] as const) {
    const node = slurmNode(0, { flags: new Set(['DRAIN']), reason });
    const given = observed([worker(0)], [node]);
    const [action] = mirrorState(worker(0), given, { staysDrained: false, now }).actions;
    assert.equal(action?.kind === 'mirror-state' && action.conditions.has(safeToDeleteType), expected);
  }
});

test('SafeToDelete is withdrawn when the state of Slurm is unknown', () => {
  const given = observed([worker(0, { slurmConditions: safe })], [], {
    slurm: { kind: 'unknown', since: 0, why: 'down' },
  });
  const { actions } = mirrorState(worker(0, { slurmConditions: safe }), given, { staysDrained: true, now });
  assert.deepEqual(
    actions.map((action) => action.kind === 'mirror-state' && action.over),
    [[safeToDeleteType]],
  );
});

test('whatever Slurm reports, a pod is safe to delete only with a drained node without work, in lists that prove it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('IDLE', 'ALLOCATED', 'MIXED', 'DOWN', 'UNKNOWN', 'ERROR'),
      fc.subarray(['DRAIN', 'UNDRAIN', 'COMPLETING', 'NOT_RESPONDING', 'FAIL']),
      fc.constantFrom(undefined, 'the nodes of suspended job 7 are unknown'),
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      (base, flags, jobsUnknown, jobsAfterNodes, wasSafe, isRecent) => {
        const node = slurmNode(0, { base: base as SlurmNode['base'], flags: new Set(flags), reason: 'x' });
        const over = wasSafe ? { slurmConditions: safe } : {};
        const given = observed(
          [worker(0, over)],
          [node],
          isRecent ? { lastWrites: new Map([['w-0', now + 1]]) } : {},
        );
        assert.ok(given.slurm.kind === 'known');
        const seen = { ...given, slurm: { ...given.slurm, jobsUnknown, jobsAfterNodes } };
        const [action] = mirrorState(worker(0, over), seen, { staysDrained: true, now }).actions;
        const change = action?.kind === 'mirror-state' ? action : undefined;
        const isSafe =
          change?.conditions.has(safeToDeleteType) === true ||
          (wasSafe && change?.over.includes(safeToDeleteType) !== true);
        if (isSafe) {
          assert.ok(isDrained(node) && !isBusy(node) && jobsUnknown === undefined && !isRecent);
          assert.ok(jobsAfterNodes || wasSafe);
        } else assert.ok(!isDrained(node) || jobsUnknown !== undefined || isRecent || !jobsAfterNodes);
      },
    ),
  );
});
