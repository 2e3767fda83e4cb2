import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseSlurmConf, settingsOf, topLevelSettings } from '../parse.ts';
import { renderTrialConf, renderTrialGres, stateDirectory, type TrialRound } from './trial-conf.ts';

const rounds: readonly TrialRound[] = ['check', 'new', 'current'];
const valueIn = (text: string, key: string) => topLevelSettings(text).get(key.toLowerCase())?.value;
const allOf = (text: string, key: string): string[] =>
  parseSlurmConf(text)
    .flatMap(({ pairs }) => settingsOf(pairs))
    .filter((pair) => pair.key.toLowerCase() === key.toLowerCase())
    .map(({ value }) => value);

const before = [
  'ClusterName=one',
  'SlurmctldHost=slurm-controller-0(slurm-controller-0.hpc)',
  'SlurmctldHost=slurm-controller-1(slurm-controller-1.hpc)',
  'SlurmctldPort=6817',
  'StateSaveLocation=/var/spool/slurmctld/one',
  'AccountingStorageType=accounting_storage/slurmdbd',
  'AccountingStorageHost=slurm-accounting',
  'JobCompType=jobcomp/filetxt',
  'JobCompLoc=/var/spool/slurmctld/one/done/jobs.log',
  'MaxNodeCount=1024',
  'TopologyPlugin=topology/block',
  'AcctGatherEnergyType=acct_gather_energy/ipmi',
  'Prolog=/etc/slurm/prolog.sh',
  'PartitionName=gpu Nodes=ALL Topology=blocks Default=YES',
].join('\n');

test('slurmctld of a trial has its own host, port, state and no accounting, in every round', () => {
  for (const round of rounds) {
    const text = renderTrialConf(before, round);
    assert.deepEqual(allOf(text, 'SlurmctldHost'), ['config-check']);
    assert.deepEqual(allOf(text, 'SlurmctldPort'), ['16817']);
    assert.deepEqual(allOf(text, 'StateSaveLocation'), [stateDirectory(round)]);
    assert.deepEqual(allOf(text, 'AccountingStorageType'), ['accounting_storage/none']);
    assert.deepEqual(allOf(text, 'AccountingStorageHost'), []);
    assert.equal(valueIn(text, 'ClusterName'), 'one');
  }
});

test('slurmctld alone reads everything else, and writes completed jobs where it may', () => {
  const text = renderTrialConf(before, 'check');
  assert.equal(valueIn(text, 'JobCompLoc'), '/tmp/trial/check/jobs.log');
  for (const key of ['TopologyPlugin', 'AcctGatherEnergyType', 'Prolog', 'MaxNodeCount'])
    assert.equal(valueIn(text, key), valueIn(before, key), key);
  assert.match(text, /^PartitionName=gpu Nodes=ALL Topology=blocks Default=YES$/m);
});

test('with workers programs, topologies and policies are left out; devices only where the pod has none', () => {
  for (const round of ['new', 'current'] as const) {
    const text = renderTrialConf(before, round);
    for (const key of ['JobCompType', 'JobCompLoc', 'TopologyPlugin', 'AcctGatherEnergyType', 'Prolog'])
      assert.equal(valueIn(text, key), undefined, key);
    assert.match(text, /^PartitionName=gpu Nodes=ALL Default=YES$/m);
    assert.equal(valueIn(text, 'MaxNodeCount'), '1088', 'room for the node of the trial');
    const onNode = renderTrialConf(before, round, 'node');
    assert.equal(valueIn(onNode, 'AcctGatherEnergyType'), 'acct_gather_energy/ipmi');
    assert.equal(valueIn(onNode, 'Prolog'), undefined);
  }
});

test('several settings on one line: only those that are left out disappear', () => {
  const text = renderTrialConf('MessageTimeout=33 SlurmctldPort=6817 Comment="a b\\# c"', 'check');
  assert.deepEqual(allOf(text, 'SlurmctldPort'), ['16817']);
  assert.equal(valueIn(text, 'MessageTimeout'), '33');
  assert.equal(valueIn(text, 'Comment'), 'a b# c');
});

test('a line that Slurm cannot read stays, so that slurmctld refuses it in the trial', () => {
  for (const line of ['SlurmctldLogFile=/tmp/a nonsense', 'Nonsense', 'SlurmctldPidFile = '])
    assert.ok(renderTrialConf(line, 'check').split('\n').includes(line), line);
});

test('devices of gres.conf are left out, and the kinds of devices stay', () => {
  const text = [
    'AutoDetect=nvml',
    'NodeName=n[1-4] AutoDetect=off',
    'NodeName=n[1-4] Name=gpu Type=h200 File=/dev/nvidia[0-7] Cores=0-63 Links=-1,0',
    'Name=nic Count=2',
  ].join('\n');
  assert.equal(renderTrialGres(text), 'NodeName=n[1-4] Name=gpu Type=h200\nName=nic Count=2\n');
});

const key = fc.constantFrom(
  'SlurmctldHost',
  'slurmctldport',
  'STATESAVELOCATION',
  'AccountingStorageTRES',
  'MessageTimeout',
  'JobCompLoc',
  'Prolog',
  'TopologyPlugin',
  'GpuFreqDef',
  'DebugFlags',
  'SchedulerParameters',
);
const value = fc.constantFrom('a', '6817', '/var/spool/x', '/var/spool/x/y', 'a,b', '"a b"', 'a\\#b');
const pair = fc.tuple(key, fc.constantFrom('=', ' = ', '+='), value).map((parts) => parts.join(''));
const line = fc.oneof(
  pair,
  fc.array(pair, { minLength: 2, maxLength: 3 }).map((all) => all.join(' ')),
  fc.tuple(pair, pair).map(([a, b]) => `${a} \\\n${b}`),
  fc.constantFrom(
    '# comment',
    '',
    'PartitionName=p Nodes=ALL Topology=t',
    'NodeName=n1 Gres=gpu:1',
    'nonsense',
  ),
);

test('of any file a trial keeps every pair that it does not replace, in order, and adds only its own', () => {
  const replaced = /^(slurmctld(host|port|pidfile)|statesavelocation|accountingstorage.*)$/i;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const text = lines.join('\n');
      const pairsOf = (of: string) =>
        parseSlurmConf(of)
          .flatMap(({ pairs }) => pairs)
          .filter((one) => !replaced.test(one.key) && one.key !== 'JobCompLoc');
      assert.deepEqual(pairsOf(renderTrialConf(text, 'check')), pairsOf(text));
      for (const round of rounds) {
        const rendered = renderTrialConf(text, round);
        assert.deepEqual(allOf(rendered, 'StateSaveLocation'), [stateDirectory(round)]);
        assert.deepEqual(allOf(rendered, 'SlurmctldHost'), ['config-check']);
        assert.equal(rendered.split('\n').includes('nonsense'), lines.includes('nonsense'));
      }
    }),
    { numRuns: 500 },
  );
});

test('without slurmdbd slurmctld reads AccountingStorageTRES in the trial: it ends on a TRES that needs slurmdbd, or that it does not know', () => {
  const text = 'AccountingStorageType=accounting_storage/none\nAccountingStorageTRES=gres/gpu\n';
  assert.equal(valueIn(renderTrialConf(text, 'check'), 'AccountingStorageTRES'), 'gres/gpu');
});
