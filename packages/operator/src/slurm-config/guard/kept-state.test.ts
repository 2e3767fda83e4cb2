import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readConf } from './conf-content.ts';
import { guardConfig } from './guard-config.ts';
import { noteOfState, withNotedLines } from './kept-state.ts';

const before = `ClusterName=one
SlurmctldPort=6817
MaxNodeCount=4096
GresTypes=gpu
NodeName=s[1-3] CPUs=4
NodeSet=long Feature=long
PartitionName=DEFAULT MaxTime=60
PartitionName=long Nodes=long,s2
PartitionName="of staff" Nodes=ALL
`;
const slurm = { kind: 'unknown', why: 'no answer.' } as const;

test('what pending jobs need is held beside a slurm.conf without it', () => {
  const note = noteOfState(before) ?? '';
  const desired = 'ClusterName=one\nSlurmctldPort=7000\nMaxNodeCount=1024\nNodeName=s1 CPUs=8\n';
  const from = withNotedLines(desired, note);
  assert.doesNotMatch(note, /SlurmctldPort/, 'no slurmctld uses the old port');
  const { text, holds } = guardConfig({ inForce: from, desired, slurm });
  const conf = readConf(text);
  assert.deepEqual([...conf.partitions.keys()], ['long', 'of staff']);
  assert.deepEqual([...conf.nodeSets.keys()], ['long']);
  assert.deepEqual([...conf.nodes.keys()].toSorted(), ['s1', 's2', 's3']);
  assert.equal(
    conf.nodes.get('s1')?.pairs[0]?.value,
    '8',
    'a node that is described again is not there twice',
  );
  assert.equal(conf.settings.get('maxnodecount'), '4096');
  assert.equal(conf.settings.get('grestypes'), 'gpu');
  assert.equal(conf.settings.get('slurmctldport'), '7000');
  assert.match(
    conf.partitions
      .get('long')
      ?.pairs.map(({ key, value }) => `${key}=${value}`)
      .join(' ') ?? '',
    /MaxTime=60/,
  );
  assert.ok(
    holds.every(({ kind }) => kind !== 'Configuration'),
    'slurmctld can start with it',
  );
});

test('a slurm.conf that has everything stays as it is', () => {
  const note = noteOfState(before) ?? '';
  assert.equal(withNotedLines(before, note), before);
  assert.equal(withNotedLines(before, ''), before);
  assert.equal(withNotedLines(before, 'gzip:no such thing'), before);
  assert.match(
    withNotedLines('SelectType=select/linear\n', note),
    /^SelectType=select\/cons_tres$/m,
    'Slurm\u2019s own value',
  );
});

test('a DEFAULT line of the desired slurm.conf does not count for what the note has', () => {
  const note = noteOfState('NodeSet=long Feature=long\nPartitionName=long Nodes=long\n') ?? '';
  const desired = 'PartitionName=DEFAULT MaxTime=5 State=DOWN\nPartitionName=all Nodes=ALL\n';
  const { text } = guardConfig({ inForce: withNotedLines(desired, note), desired, slurm });
  assert.match(text, /^PartitionName=long Nodes=long Default=NO State=DRAIN$/m);
  assert.match(withNotedLines(desired, noteOfState('SelectType=select/linear\n') ?? ''), /linear\n$/);
});

test('a note runs no program and has no number that slurmctld refuses', () => {
  const merged = (note: string) => readConf(withNotedLines('ClusterName=one\n', note)).settings;
  const programs = (resume: string, suspend: string) =>
    merged(`ResumeProgram=${resume}\nSuspendProgram=${suspend}\nResumeTimeout=600\n`).get('resumeprogram');
  assert.equal(programs('/bin/true', '/bin/true'), '/bin/true');
  assert.equal(programs('/tmp/x', '/bin/true'), undefined);
  assert.equal(programs('/bin/true', '/tmp/x'), undefined);
  assert.equal(merged('MaxNodeCount=4096\n').get('maxnodecount'), '4096');
  for (const wrong of ['1e9', '70000', '99999999999', 'x'])
    assert.equal(merged(`MaxNodeCount=${wrong}\n`).get('maxnodecount'), undefined, wrong);
  for (const wrong of ['1e9', '99999999999', 'x'])
    assert.equal(merged(`MaxJobCount=${wrong}\n`).get('maxjobcount'), undefined, wrong);
});

test('a large slurm.conf is noted in the room of an annotation, and one that does not fit is not', () => {
  const partitions = (count: number) =>
    Array.from({ length: count }, (_, i) => `PartitionName=p${i} Nodes=n${i} MaxTime=${i}`).join('\n');
  const note = noteOfState(partitions(5_000)) ?? '';
  assert.ok(note.startsWith('gzip:') && note.length < 160_000, String(note.length));
  assert.equal(readConf(withNotedLines('', note)).partitions.size, 5_000);
  assert.equal(noteOfState(partitions(100_000)), undefined);
});

test('whatever someone writes into the note adds nothing but records and the settings that are noted', () => {
  const word = fc.constantFrom(
    'Include /x',
    'PartitionName=a Nodes=b',
    'Prolog=/bin/sh',
    'NodeName=c',
    '\0',
    '"',
    '\\',
    'gzip:',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string()), { maxLength: 8 }), (words) => {
      const conf = readConf(withNotedLines('ClusterName=one\n', words.join('\n')));
      assert.deepEqual(conf.includes, []);
      assert.equal(conf.settings.get('prolog'), undefined);
      assert.equal(conf.settings.get('clustername'), 'one');
    }),
  );
});
