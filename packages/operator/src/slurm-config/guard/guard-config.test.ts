import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardConfig, needsSlurm } from './guard-config.ts';
import type { SlurmWork, WorkJob } from './slurm-work.ts';

const job = (id: string, over: Partial<WorkJob> = {}): WorkJob => ({
  id,
  active: true,
  partitions: ['long'],
  nodes: [],
  gres: [],
  array: false,
  ...over,
});
const pending = (id: string, over: Partial<WorkJob> = {}) => job(id, { active: false, ...over });

const known = (
  jobs: readonly WorkJob[],
  over: Partial<Extract<SlurmWork, { kind: 'known' }>> = {},
): SlurmWork => ({
  kind: 'known',
  jobs,
  partitions: new Map(),
  nodes: new Map(),
  partitionSets: new Map(),
  nodeCount: 3,
  jobCount: jobs.length,
  ...over,
});
const silent: SlurmWork = { kind: 'unknown', why: 'slurmrestd does not answer' };

const base =
  'ClusterName=c\nMaxNodeCount=1024\nNodeSet=short Feature=short\nPartitionName=short Nodes=short Default=YES\n';
const withLong = `${base}NodeSet=long Feature=long\nPartitionName=long Nodes=long MaxTime=10 Default=YES State=UP\n`;
const heldLong = [
  'NodeSet=long Feature=long',
  'PartitionName=long Nodes=long MaxTime=10 Default=NO State=DRAIN',
] as const;

test('keeps a partition that has jobs, closed to new ones, with the NodeSet that it names', () => {
  const { text, holds } = guardConfig({
    inForce: withLong,
    desired: base,
    slurm: known([job('4'), pending('5'), pending('7_2')]),
  });
  for (const line of heldLong) assert.ok(text.split('\n').includes(line), text);
  assert.ok(text.includes(base.trimEnd()));
  assert.deepEqual(
    holds.map(({ kind, name, cause }) => `${kind} ${name} ${cause}`),
    ['Partition long jobs', 'NodeSet long referenced'],
  );
  assert.equal(
    holds[0]?.message,
    'Partition long stays, closed to new jobs, because it has 1 running and 2 pending jobs (4, 5, 7_2). Move pending jobs with "scontrol update job=<job> partition=short", or cancel them with "scancel --state=PENDING --partition=long".',
  );
});

test('names a few jobs and counts the others', () => {
  const jobs = Array.from({ length: 40 }, (_, at) => pending(String(at + 1)));
  const [hold] = guardConfig({ inForce: withLong, desired: base, slurm: known(jobs) }).holds;
  assert.match(hold?.message ?? '', /40 pending jobs \(1, 2, 3, 4, 5 and 35 more\)/);
});

test('closes a partition without jobs before it removes it', () => {
  const open = known([], { partitions: new Map([['long', true]]) });
  const first = guardConfig({ inForce: withLong, desired: base, slurm: open });
  assert.deepEqual(
    first.holds.map(({ cause }) => cause),
    ['closing', 'referenced'],
  );
  const shut = known([], { partitions: new Map([['long', false]]) });
  const { text, holds } = guardConfig({ inForce: first.text, desired: base, slurm: shut });
  assert.deepEqual({ text, holds }, { text: base, holds: [] });
});

test('keeps everything that could have jobs while Slurm does not answer', () => {
  const { text, holds } = guardConfig({ inForce: withLong, desired: base, slurm: silent });
  for (const line of heldLong) assert.ok(text.split('\n').includes(line), text);
  assert.match(holds[0]?.message ?? '', /it is unknown whether it has jobs: slurmrestd does not answer/);
});

test('a rename keeps the old partition beside the new one and says where jobs can move', () => {
  const renamed = withLong.replaceAll('long', 'h100');
  const { text, holds } = guardConfig({ inForce: withLong, desired: renamed, slurm: known([pending('9')]) });
  assert.ok(text.includes(heldLong[1]) && text.includes('PartitionName=h100'));
  assert.match(holds[0]?.message ?? '', /scontrol update job=<job> partition=h100/);
});

test('a job that waits in several partitions keeps each of them: 24.11 loses it with the first that goes', () => {
  const shut = { partitions: new Map([['long', false]]) };
  const both = { partitions: ['long', 'short'] };
  for (const one of [pending('1', both), job('1', both)])
    assert.equal(
      guardConfig({ inForce: withLong, desired: base, slurm: known([one], shut) }).holds.length,
      2,
    );
});

test('jobs that the user gave up keep nothing', () => {
  const run = (mode: 'all' | 'pending', slurm: SlurmWork) =>
    guardConfig({ inForce: withLong, desired: base, slurm, released: new Map([['long', mode]]) }).holds
      .length;
  assert.equal(run('all', silent), 0);
  assert.equal(run('all', known([job('1')])), 0);
  assert.equal(run('pending', known([pending('1')])), 0);
  assert.equal(run('pending', known([job('1')])), 2);
  assert.equal(run('pending', silent), 2);
});

test('keeps the lines of a NodeSet that is being deleted until its last worker is gone', () => {
  const slurm = known([], { partitions: new Map([['long', false]]) });
  const run = (count: number, released?: 'all') =>
    guardConfig({
      inForce: withLong,
      desired: base,
      slurm,
      workers: new Map([['long', count]]),
      released: new Map(released === undefined ? [] : [['long', released]]),
    });
  for (const line of heldLong) assert.ok(run(2).text.includes(line));
  assert.match(run(2).holds[0]?.message ?? '', /until the 2 remaining workers of its NodeSet are removed/);
  assert.equal(run(0).text, base);
  assert.equal(run(2, 'all').text, base);
});

test('a partition that was down stays without starts', () => {
  const down = withLong.replace('State=UP', 'State=DOWN');
  assert.match(
    guardConfig({ inForce: down, desired: base, slurm: known([pending('1')]) }).text,
    /State=INACTIVE/,
  );
});

test('a held line keeps what a DEFAULT line gave it, and takes nothing from the DEFAULT line of the new text', () => {
  const before = `PartitionName=DEFAULT MaxTime=5\n${withLong.replace('MaxTime=10 ', '')}`;
  const after = `PartitionName=DEFAULT MaxTime=1\n${base}`;
  const { text } = guardConfig({ inForce: before, desired: after, slurm: known([job('1')]) });
  assert.match(text, /^PartitionName=long MaxTime=5 Nodes=long Default=NO State=DRAIN$/m);
  assert.ok(text.indexOf('PartitionName=long') < text.indexOf('PartitionName=DEFAULT'));
});

test('a NodeSet stays while a partition of the user names it', () => {
  const users = `${base}PartitionName=mine Nodes=short,long\n`;
  const { text, holds } = guardConfig({
    inForce: `${withLong}PartitionName=mine Nodes=short,long\n`,
    desired: users,
    slurm: known([], { partitions: new Map([['long', false]]) }),
  });
  assert.match(text, /^NodeSet=long Feature=long$/m);
  assert.match(holds[0]?.message ?? '', /partition mine names it: remove it from spec.extraConf/);
});

test('MaxNodeCount shrinks only when all nodes fit', () => {
  const small = base.replace('1024', '2');
  const held = guardConfig({ inForce: base, desired: small, slurm: known([]) });
  assert.match(held.text, /MaxNodeCount=1024\n$/);
  assert.match(
    held.holds[0]?.message ?? '',
    /MaxNodeCount stays 1024 instead of 2, because Slurm has 3 nodes/,
  );
  assert.match(guardConfig({ inForce: base, desired: small, slurm: silent }).text, /MaxNodeCount=1024\n$/);
  assert.equal(
    guardConfig({ inForce: held.text, desired: small, slurm: known([], { nodeCount: 2 }) }).text,
    small,
  );
  assert.equal(guardConfig({ inForce: small, desired: base, slurm: silent }).text, base, 'it grows at once');
});

test('a key whose change loses jobs stays until they have ended', () => {
  const gres = `${base}GresTypes=gpu,shard\n`;
  const gpu = job('3', { partitions: ['short'], gres: ['gpu'] });
  const held = guardConfig({ inForce: gres, desired: `${base}GresTypes=shard\n`, slurm: known([gpu]) });
  assert.match(held.text, /GresTypes=gpu,shard\n$/);
  assert.match(held.holds[0]?.message ?? '', /1 running job \(3\)/);
  const more = `${base}GresTypes=gpu,shard,mps\n`;
  assert.equal(guardConfig({ inForce: gres, desired: more, slurm: silent }).text, more);
});

test('MaxJobCount stays above the jobs that slurmctld remembers, MaxArraySize while there are arrays', () => {
  const shrink = (line: string, jobs: readonly WorkJob[], jobCount: number) =>
    guardConfig({ inForce: base, desired: `${base}${line}\n`, slurm: known(jobs, { jobCount }) }).holds
      .length;
  const waits = [pending('1', { partitions: ['short'] })];
  assert.equal(shrink('MaxJobCount=50', waits, 51), 1);
  assert.equal(shrink('MaxJobCount=50', waits, 50), 0);
  assert.equal(shrink('MaxJobCount=50000', waits, 51), 0);
  assert.equal(shrink('MaxArraySize=10', waits, 1), 0);
  assert.equal(shrink('MaxArraySize=10', [pending('1_2', { partitions: ['short'], array: true })], 1), 1);
});

const open = { drained: false, byGuard: false, line: undefined };
const drained = { ...open, drained: true, byGuard: true };

test('nodes that leave slurm.conf stay together while one of them has a job, with their own addresses only', () => {
  const nodes = `${base}NodeName=s[1-4] NodeAddr=10.0.0.[1-4] CPUs=4\n`;
  const held = (names: readonly string[]) =>
    guardConfig({
      inForce: nodes,
      desired: `${base}NodeName=s1 NodeAddr=10.0.0.1 CPUs=4\n`,
      slurm: known([job('1', { partitions: ['short'], nodes: names })]),
    }).text;
  assert.match(held(['s2', 's3']), /^NodeName=s\[2-4\] NodeAddr=10\.0\.0\.\[2-4\] CPUs=4$/m);
  assert.equal(held(['s4']), held(['s2', 's3']), 'the text does not change with the jobs');
});

test('a node without jobs is drained before its line goes, and only then does it go', () => {
  const inForce = `${base}NodeName=s1 CPUs=4\n`;
  const run = (node: typeof open, jobs: readonly WorkJob[] = []) =>
    guardConfig({ inForce, desired: base, slurm: known(jobs, { nodes: new Map([['s1', node]]) }) });
  const first = run(open);
  assert.match(first.text, /^NodeName=s1 CPUs=4$/m);
  assert.deepEqual([first.holds[0]?.cause, first.nodes], ['closing', { close: ['s1'], reopen: [] }]);
  assert.deepEqual(run(drained), { text: base, holds: [], nodes: { close: [], reopen: [] } });
  const byName = pending('7', { partitions: ['short'], nodes: ['s1'] });
  assert.deepEqual(run(drained, [byName]).nodes, { close: [], reopen: ['s1'] }, 'it must start there');
});

test('a node whose hardware changes is drained first, and opened again afterwards', () => {
  const inForce = `${base}NodeName=s1 CPUs=4\n`;
  const desired = inForce.replace('CPUs=4', 'CPUs=2');
  const run = (from: string, node: typeof open) =>
    guardConfig({ inForce: from, desired, slurm: known([], { nodes: new Map([['s1', node]]) }) });
  const first = run(inForce, open);
  assert.deepEqual([first.text, first.holds[0]?.cause, first.nodes.close], [inForce, 'closing', ['s1']]);
  assert.equal(run(inForce, drained).text, desired);
  assert.deepEqual(run(desired, drained).nodes, { close: [], reopen: ['s1'] });
  const theirs = { ...drained, byGuard: false };
  assert.deepEqual(run(desired, theirs).nodes, { close: [], reopen: [] }, 'a drain of a person stays');
});

test('a key whose change loses jobs also waits until no partition accepts new ones', () => {
  const desired = `${base}SelectType=select/linear\n`;
  const run = (accepts: boolean) =>
    guardConfig({ inForce: base, desired, slurm: known([], { partitions: new Map([['short', accepts]]) }) });
  assert.match(
    run(true).holds[0]?.message ?? '',
    /Close partition short, each with "scontrol update partition=short state=inactive"/,
  );
  assert.equal(run(true).text.endsWith('SelectType=select/cons_tres\n'), true);
  assert.equal(run(false).text, desired);
});

test('a partition that only Slurm has keeps the configuration, also while Slurm does not answer', () => {
  const harmless = `${base}ReturnToService=1\n`;
  const run = (slurm: SlurmWork) => guardConfig({ inForce: base, desired: harmless, slurm });
  const lone = (accepts: boolean) => known([], { partitions: new Map([['adhoc', accepts]]) });
  assert.equal(run(lone(true)).text, base);
  assert.equal(run(lone(false)).text, harmless);
  assert.equal(run({ ...silent, mayForget: 'partition adhoc' }).text, base);
  assert.equal(run(silent).text, harmless);
});

test('an Include that goes takes partitions with it that the text does not name', () => {
  const inForce = `${base}Include more.conf\n`;
  assert.equal(guardConfig({ inForce, desired: base, slurm: silent }).text, inForce);
  const more = known([], { partitions: new Map([['more', true]]) });
  assert.equal(guardConfig({ inForce, desired: base, slurm: more }).text, inForce);
  const other = `${inForce}ReturnToService=1\n`;
  assert.equal(guardConfig({ inForce, desired: other, slurm: more }).text, other, 'it is still included');
});

test('an included file that changes waits for the jobs of partitions that it may name', () => {
  const text = `${base}Include more.conf\n`;
  const partitions = new Map([['more', true]]);
  const reread = (slurm: SlurmWork) =>
    guardConfig({ inForce: text, desired: text, slurm, rereads: true }).holds.map(
      ({ name, cause }) => `${name} ${cause}`,
    );
  assert.deepEqual(reread(known([pending('1', { partitions: ['more'] })], { partitions })), ['more jobs']);
  assert.deepEqual(reread({ ...silent, mayForget: 'partition more' }), ['partitions unknown']);
  assert.deepEqual(reread(known([], { partitions })), []);
});

test('nothing changes while a node of slurm.conf would change under a job', () => {
  const nodes = `${base}NodeName=s[1-3] CPUs=4\n`;
  const slurm = known([job('1', { partitions: ['short'], nodes: ['s2'] })]);
  const held = guardConfig({ inForce: nodes, desired: nodes.replace('CPUs=4', 'CPUs=2'), slurm });
  assert.equal(held.text, nodes);
  assert.match(
    held.holds[0]?.message ?? '',
    /CPUs of node s2 would change, and Slurm would end its 1 running job \(1\)/,
  );
});

test('nothing changes while a partition that only Slurm knows has jobs', () => {
  const slurm = known([job('1', { partitions: ['adhoc'] })], { partitions: new Map([['adhoc', true]]) });
  const held = guardConfig({ inForce: base, desired: withLong, slurm });
  assert.equal(held.text, base);
  assert.match(held.holds[0]?.message ?? '', /would forget partition adhoc/);
});

test('Slurm is asked only where something could be lost', () => {
  assert.equal(needsSlurm(base, withLong), false, 'a partition more');
  assert.equal(needsSlurm(base, `${base}ReturnToService=1\n`), false);
  assert.equal(needsSlurm(undefined, base), false, 'the first configuration');
  assert.equal(needsSlurm(withLong, base), true);
  assert.equal(needsSlurm(base, base.replace('1024', '512')), true);
});

test('MaxNodeCount does not shrink below the workers that are about to register', () => {
  const small = base.replace('1024', '3');
  const slurm = known([], {
    nodes: new Map([['short-0', { drained: false, byGuard: false, line: undefined }]]),
  });
  const guarded = (names: readonly string[], absent: number) =>
    guardConfig({ inForce: base, desired: small, slurm, expected: { names, absent } });
  assert.equal(guarded(['short-0'], 0).text, small, 'three nodes, and every worker is one of them');
  const held = guarded(['short-0', 'short-1'], 0);
  assert.match(held.text, /MaxNodeCount=1024\n$/);
  assert.match(held.holds[0]?.message ?? '', /has 3 nodes and 1 more workers are about to register/);
  assert.match(guarded(['short-0'], 2).text, /MaxNodeCount=1024\n$/, 'workers without a pod yet');
});

test('a line that names a worker that exists is not put in force: it would end its slurmd', () => {
  const desired = `${base}NodeName=w-[0-3] CPUs=2\n`;
  const given = { inForce: base, desired, slurm: known([]) };
  const taken = guardConfig({ ...given, expected: { names: ['a-0', 'w-2', 'w-1'], absent: 0 } });
  assert.equal(taken.text, base);
  assert.deepEqual(
    taken.holds.map(({ kind, name, cause }) => `${kind} ${name} ${cause}`),
    ['Configuration w-1 taken'],
  );
  assert.match(
    taken.holds[0]?.message ?? '',
    /a line NodeName=w-\[0-3\] names worker w-1 of a NodeSet.*Remove that name from extraConf.*1 more workers/,
  );
  const unknown = guardConfig({ ...given, slurm: silent, expected: { names: ['w-1'], absent: 0 } });
  assert.equal(unknown.text, base, 'whatever Slurm says');
  assert.equal(guardConfig({ ...given, expected: { names: ['a-0'], absent: 3 } }).text, desired);
  const there = { ...given, inForce: desired, desired: `${desired}PriorityType=priority/basic\n` };
  assert.equal(guardConfig({ ...there, expected: { names: ['w-1'], absent: 0 } }).text, there.desired);
});
