import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Controller } from '@slurm-operator/api';
import type { Live } from '@slurm-operator/kube';
import { aController } from '../../../testing/objects.ts';
import { guardConfig } from '../../slurm-config/guard/guard-config.ts';
import { noteOfState } from '../../slurm-config/guard/kept-state.ts';
import type { SlurmSurvey, SlurmWork } from '../../slurm-config/guard/slurm-work.ts';
import { confDigestAnnotation, versionFile } from '../../slurm-config/render/config-map.ts';
import { type EvidenceInput, gatherEvidence } from './config-evidence.ts';
import { stateNoteAnnotation } from './plan/state-note.ts';

const desired = 'NodeSet=short Feature=short\nPartitionName=short Nodes=short\n';
const withLong = `${desired}NodeSet=long Feature=long\nPartitionName=long Nodes=long\n`;
const harmless = `${desired}ReturnToService=1\n`;
const silent: SlurmWork = { kind: 'unknown', why: 'no answer' };

function mapOf(text: string, written = text, version = 'v1') {
  return {
    metadata: { name: 'slurm-config', annotations: { [confDigestAnnotation]: hash('sha256', written) } },
    data: { 'slurm.conf': text, [versionFile]: version },
  };
}

function surveyOf(over: Partial<SlurmSurvey> = {}): SlurmSurvey {
  return {
    work: () => Promise.resolve(silent),
    partitions: () => Promise.resolve(undefined),
    lastPartitions: () => new Set(['short']),
    hasClosedNodes: () => false,
    setNodes: () => Promise.resolve(),
    forget: () => undefined,
    ...over,
  };
}

const controller = (heldConfig?: object): Live<Controller> => ({
  ...aController(),
  status: { configHash: 'v1', heldConfig },
});

function gather(
  stored: object | undefined,
  { claim, ...over }: Partial<EvidenceInput> & { readonly claim?: object } = {},
) {
  return gatherEvidence({
    cache: { get: () => undefined } as never,
    client: {
      find: () => Promise.resolve(stored),
      list: () => Promise.resolve({ items: claim === undefined ? [] : [claim] }),
    } as never,
    survey: surveyOf(),
    controller: controller(),
    desired,
    mayHavePartitions: true,
    signal: AbortSignal.timeout(1_000),
    ...over,
  });
}

const held = {
  items: [
    { kind: 'Partition', name: 'long', nodeSet: 'gpus' },
    { kind: 'NodeSet', name: 'long' },
  ],
};

test('a ConfigMap that is gone or was edited does not lose what is held', async () => {
  for (const stored of [undefined, mapOf(desired, withLong), mapOf(desired, desired, 'another')]) {
    const { inForce } = await gather(stored, { controller: controller(held) });
    assert.match(inForce?.text ?? '', /^PartitionName=long Nodes=long$/m);
    assert.equal(inForce?.owners['long'], 'gpus');
  }
});

test('a ConfigMap that the operator wrote is in force as it is', async () => {
  assert.equal((await gather(mapOf(withLong))).inForce?.text, withLong);
  const { inForce } = await gather(undefined, { controller: aController() });
  assert.equal(inForce, undefined, 'before the first');
});

test('partitions that only Slurm has are remembered while it does not answer', async () => {
  const mayForget = async (over: Partial<EvidenceInput>) => {
    const { slurm } = await gather(mapOf(desired), { desired: harmless, ...over });
    return slurm.kind === 'unknown' ? slurm.mayForget : undefined;
  };
  const last = (names: readonly string[] | undefined) =>
    surveyOf({ lastPartitions: () => names && new Set(names) });
  assert.equal(await mayForget({ survey: last(['short', 'adhoc']) }), 'partition adhoc');
  assert.equal(await mayForget({ survey: last(['short']) }), undefined);
  assert.match((await mayForget({ survey: last(undefined) })) ?? '', /created with scontrol/);
  const noSlurm = { survey: last(undefined), mayHavePartitions: false };
  assert.equal(await mayForget(noSlurm), undefined, 'it has never answered, or slurmctld does not run');
});

test('a slurmctld that is to be restarted and does not answer may have jobs', async () => {
  const mayHaveJobs = async (over: Partial<EvidenceInput>) => {
    const { slurm } = await gather(mapOf(desired), { restarts: true, ...over });
    return slurm.kind === 'unknown' && slurm.mayHaveJobs === true;
  };
  assert.equal(await mayHaveJobs({ mayHaveState: true }), true);
  assert.equal(
    await mayHaveJobs({ mayHaveState: false }),
    false,
    'its jobs outlive its pod, or it never answered',
  );
  assert.equal(
    await mayHaveJobs({ mayHaveState: true, mayHavePartitions: false }),
    true,
    'it does not run, and its pod still has its state',
  );
  const lockedOut = { mayHaveState: true, lockedOut: true };
  assert.equal(await mayHaveJobs(lockedOut), true, 'a new jwt.key says nothing about jobs');
  const { slurm } = await gather(mapOf(desired), { restarts: true, ...lockedOut });
  assert.match(
    slurm.kind === 'unknown' ? slurm.why : '',
    /^jwt\.key has changed.*kubectl exec -n \S+ slurm-controller-0 -c slurmctld -- scontrol reconfigure"\.$/,
  );
});

test('right before a write every list is new', async () => {
  const asked: unknown[] = [];
  const survey = surveyOf({
    work: (_namespace, _name, _signal, options) => {
      asked.push(options);
      return Promise.resolve(silent);
    },
    forget: () => asked.push('forget'),
  });
  await gather(mapOf(withLong), { survey, fresh: true });
  assert.deepEqual(asked, ['forget', { fresh: true }]);
});

test('a drain of the guard is looked after although nothing changes', async () => {
  const cached = mapOf(desired);
  const digests = { 'slurm.conf': hash('sha256', desired), [versionFile]: hash('sha256', 'v1') };
  const cache = { get: () => ({ ...cached, data: digests }) } as never;
  let asked = 0;
  const work = () => {
    asked += 1;
    return Promise.resolve(silent);
  };
  await gather(undefined, { cache, survey: surveyOf({ work }) });
  assert.equal(asked, 0);
  await gather(undefined, { cache, survey: surveyOf({ work, hasClosedNodes: () => true }) });
  assert.equal(asked, 1);
});

test('the jobs are asked for before any change: a pending one may ask for a node that is gone', async () => {
  const partitions = () => Promise.resolve(new Set(['short']));
  const some: SlurmWork = {
    kind: 'known',
    jobs: [],
    partitions: new Map(),
    partitionSets: new Map(),
    nodes: new Map(),
    nodeCount: 0,
    jobCount: 0,
  };
  const ask = async (work: SlurmWork) => {
    const survey = surveyOf({
      partitions,
      work: () => Promise.resolve(work),
      lastPartitions: () => undefined,
    });
    return (await gather(mapOf(desired), { desired: harmless, survey })).slurm;
  };
  assert.equal(await ask(some), some);
  const { kind, ...rest } = await ask(silent);
  assert.equal(kind, 'unknown');
  assert.equal(
    'mayForget' in rest,
    false,
    'all partitions are known: the change is made, because it may be the fix',
  );
});

const claimOf = (note: string | undefined, over: object = {}) => ({
  metadata: { name: 'statesave-slurm-controller-0', annotations: { [stateNoteAnnotation]: note } },
  status: { phase: 'Bound' },
  ...over,
});

test('a Controller that is created again begins with what the jobs of its kept state need', async () => {
  const again = { controller: aController(), claim: claimOf(noteOfState(withLong)) };
  const { inForce, slurm, keptState } = await gather(undefined, again);
  assert.match(inForce?.text ?? '', /^PartitionName=long Nodes=long$/m);
  assert.match(slurm.kind === 'unknown' ? slurm.why : '', /statesave-slurm-controller-0/);
  assert.equal(keptState?.note, noteOfState(withLong));
  const { text, holds } = guardConfig({ inForce: inForce?.text, desired, slurm });
  assert.match(text, /^PartitionName=long Nodes=long Default=NO State=DRAIN$/m);
  assert.deepEqual(
    holds.map(({ kind, name, cause }) => `${kind} ${name} ${cause}`),
    ['Partition long unknown', 'NodeSet long referenced'],
  );
  const complete = await gather(undefined, { ...again, desired: withLong });
  assert.equal(complete.inForce?.text, withLong, 'its NodeSets are there: nothing is held');
});

test('a ConfigMap that is gone is recovered with the note, also while Slurm does not answer', async () => {
  const { inForce } = await gather(undefined, { claim: claimOf(noteOfState(withLong)) });
  assert.match(inForce?.text ?? '', /^PartitionName=long Nodes=long$/m);
});

test('a kept state without a note is told from a new volume', async () => {
  const unnoted = async (claim: object | undefined, over: object = {}) =>
    (await gather(undefined, { controller: aController(over), ...(claim && { claim }) })).keptState?.claim;
  assert.equal(await unnoted(claimOf(undefined)), 'statesave-slurm-controller-0');
  assert.equal(
    await unnoted(claimOf(undefined), { persistence: { enabled: true, existingClaim: 'mine' } }),
    'mine',
  );
  assert.equal(await unnoted(undefined), undefined);
  assert.equal(
    await unnoted(claimOf(undefined, { status: { phase: 'Pending' } })),
    undefined,
    'it was never used',
  );
  const snapshot = {
    status: { phase: 'Pending' },
    spec: { dataSource: { kind: 'VolumeSnapshot', name: 's' } },
  };
  assert.equal(await unnoted(claimOf(undefined, snapshot)), 'statesave-slurm-controller-0');
  assert.equal(await unnoted(claimOf(undefined), { persistence: { enabled: false } }), undefined);
});
