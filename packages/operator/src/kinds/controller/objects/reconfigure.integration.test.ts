/** When the sidecar of slurmctld asks it to reconfigure: its script, with a stub in place of scontrol. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { aController, operatorDefaults } from '../../../../testing/objects.ts';
import { reconfigureContainer } from './reconfigure.ts';

const running: { readonly process: ChildProcess; readonly directory: string }[] = [];
afterEach(async () => {
  const all = running.splice(0);
  // With what the script has started: a nap of it would write into a folder that is being removed. Their output closes with the last one.
  await Promise.all(
    all.map(async ({ process: child }) => {
      const closed = once(child, 'close');
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await closed;
    }),
  );
  for (const { directory } of all) await rm(directory, { recursive: true });
});

interface Past {
  /** What slurmctld finds in its state; nothing where it never ran before. */
  readonly told?: string;
  readonly version: string;
  /** Tag of the image of slurmctld. */
  readonly image?: string;
  /** Seconds after which a list of nodes is obeyed once more. */
  readonly listed?: number;
  /** What scontrol shows. */
  readonly config?: string;
  readonly partitions?: string;
  /** Its state is in its pod. */
  readonly inPod?: boolean;
}

async function start(past: Past) {
  const { told, version, image = '26.05', listed = 180, config = '', partitions = '', inPod = false } = past;
  const directory = await mkdtemp(join(tmpdir(), 'reconfigure-'));
  const [etc, state, bin] = [join(directory, 'etc'), join(directory, 'state'), join(directory, 'bin')];
  for (const each of [etc, state, bin]) await mkdir(each);
  const log = join(directory, 'log');
  /** Never half a file, as a kubelet does it. */
  const put = async (name: string, text: string) => {
    await writeFile(join(directory, name), text);
    await rename(join(directory, name), join(etc, name));
  };
  const configure = async (text: string, approved = text) => {
    await put('.config-approved', approved);
    await put('.config-version', text);
  };
  await configure(version);
  await put('jwt.key', 'one');
  await writeFile(log, '');
  if (told !== undefined) {
    await writeFile(join(state, 'clustername'), 'a');
    await writeFile(join(state, '.config-told'), told);
  }
  for (const [name, text] of Object.entries({
    'slurm.conf': 'PartitionName=a,b Nodes=ALL\n',
    partitions,
    config,
    jobs: '',
    agents: 'Agent queue size:     0\nAgent count:          0\nAgent thread count:   0\n',
  }))
    await put(name, text);
  const pauses = join(directory, 'pauses');
  const stub = `#!/bin/sh
case "$*" in
  reconfigure) echo reconfigure >>${pauses}; cat ${etc}/.config-version >>${log}; echo >>${log} ;;
  '-o show partition') cat ${etc}/partitions ;;
  'show config') cat ${etc}/config ;;
  'show hostnames '*) echo w-0; echo w-1 ;;
  'create reservation '*) echo pause >>${pauses}; [ ! -e ${etc}/paused ] ;;
  'delete ReservationName='*) rm -f ${etc}/paused; echo end >>${pauses} ;;
  'create '*) echo "$*" >>${log}; [ ! -e ${etc}/broken ] ;;
  'show node '*) [ ! -e ${etc}/broken ] ;;
esac`;
  await writeFile(join(bin, 'scontrol'), stub, { mode: 0o755 });
  await writeFile(join(bin, 'squeue'), `#!/bin/sh\ncat ${etc}/jobs`, { mode: 0o755 });
  await writeFile(join(bin, 'sdiag'), `#!/bin/sh\necho asked >>${pauses}; cat ${etc}/agents`, {
    mode: 0o755,
  });
  // Each turn of its loop begins with a nap, which is short here and counted.
  const turns = join(directory, 'turns');
  await writeFile(turns, '');
  const nap = `#!/bin/sh\necho >>${turns}; exec /bin/sleep 0.05`;
  await writeFile(join(bin, 'sleep'), nap, { mode: 0o755 });
  const mount = { name: 'statesave', mountPath: state };
  const { command } = reconfigureContainer({
    controller: aController({
      slurmctld: { image: `slurmctld:${image}` },
      ...(inPod ? { persistence: { enabled: false } } : {}),
    }),
    defaults: operatorDefaults,
    state: mount,
  });
  const script = command?.at(-1)?.replaceAll('/etc/slurm', etc) ?? '';
  const hasty = script.replace('SECONDS + 60', 'SECONDS + 1').replace('SECONDS + 180', `SECONDS + ${listed}`);
  assert.ok(!hasty.includes('SECONDS + 60'), 'a minute is too long for a test');
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  const child = spawn('/bin/bash', ['-c', hasty], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.push({ process: child, directory });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const lines = async (file: string) =>
    (await readFile(file, 'utf8').catch(() => '')).split('\n').slice(0, -1);
  return {
    configure,
    put,
    output: () => output,
    told: () => lines(log),
    /** Pauses of job starts, what slurmctld was asked in them, and reconfigures, in their order. */
    pauses: () => lines(pauses),
    /** Everything that was told until `last` was for the second time, and in the turns after that. */
    async untilTold(last: string, times = 2): Promise<string[]> {
      const isLast = (each: string) => each === last;
      await until(`${last} was told`, async () => (await lines(log)).filter(isLast).length >= times);
      await this.turns();
      return lines(log);
    },
    /** Some turns that surely began after now. */
    async turns(): Promise<void> {
      const { length } = await lines(turns);
      await until('some turns have passed', async () => (await lines(turns)).length > length + 3);
    },
    kept: () => readFile(join(state, '.config-told'), 'utf8'),
  };
}

test('a slurmctld on its first start is not reconfigured; after a change it is', async () => {
  const slurmctld = await start({ version: 'one' });
  await slurmctld.turns();
  await slurmctld.configure('two');
  assert.deepEqual(await slurmctld.untilTold('two'), ['two', 'two']);
});

test('what is not approved waits', async () => {
  const slurmctld = await start({ told: 'one', version: 'one' });
  await slurmctld.configure('two', 'one');
  await slurmctld.turns();
  await slurmctld.configure('three');
  assert.deepEqual(await slurmctld.untilTold('three'), ['three', 'three']);
});

test('a configuration that came with a new pod is told to the workers of the one before', async () => {
  const slurmctld = await start({ told: 'one', version: 'two' });
  assert.deepEqual(await slurmctld.untilTold('two'), ['two', 'two']);
});

test('workers that were told before are left alone when slurmctld starts again', async () => {
  const slurmctld = await start({ told: 'one', version: 'one' });
  await slurmctld.turns();
  await slurmctld.configure('two');
  assert.deepEqual(await slurmctld.untilTold('two'), ['two', 'two']);
  assert.equal(await slurmctld.kept(), 'two\n');
});

test('a slurmctld that read other files at its start than there are now is told, whatever its state names', async () => {
  const config = 'HASH_VAL                = Different Ours=0xe2f3bcf Slurmctld=0xf4434c23\n';
  const again = await start({ told: 'one', version: 'one', config });
  assert.deepEqual(await again.untilTold('one'), ['one', 'one']);
  const first = await start({ version: 'one', config });
  assert.deepEqual(await first.untilTold('one'), ['one', 'one']);
  const partitions = 'PartitionName=adhoc State=UP\n';
  const adhoc = await start({ told: 'one', version: 'one', config, partitions });
  await until('it says why not', () => adhoc.output().includes('slurm.conf lacks partition adhoc'));
  await adhoc.turns();
  assert.deepEqual(await adhoc.told(), []);
});

test('a slurmctld that read newer files at its start reads those that its state names', async () => {
  const slurmctld = await start({ told: 'one', version: 'two' });
  await slurmctld.configure('two', 'one');
  await slurmctld.turns();
  await slurmctld.configure('one');
  assert.equal((await slurmctld.untilTold('one')).at(-1), 'one');
});

test('the second word is about the last configuration only', async () => {
  const slurmctld = await start({ told: 'one', version: 'two' });
  await slurmctld.untilTold('two', 1);
  await slurmctld.configure('three');
  const told = await slurmctld.untilTold('three');
  assert.deepEqual(told.slice(-2), ['three', 'three']);
  assert.ok(told.filter((each) => each === 'two').length <= 2);
});

test('a second notification is left out while Slurm has a partition that slurm.conf does not name', async () => {
  const slurmctld = await start({ told: 'one', version: 'two' });
  await slurmctld.put('partitions', 'PartitionName=a State=UP\nPartitionName=adhoc State=UP\n');
  await slurmctld.untilTold('two', 1);
  await until('the second notification is left out', () =>
    slurmctld.output().includes('would forget partition adhoc'),
  );
  await slurmctld.turns();
  assert.deepEqual(await slurmctld.told(), ['two']);
});

test('a reconfigure waits for jobs whose PrologSlurmctld runs', async () => {
  const slurmctld = await start({ told: 'one', version: 'one' });
  await slurmctld.put(
    'config',
    'PrologFlags             = Contain\nPrologSlurmctld[0]      = /etc/slurm/prolog.sh\n',
  );
  await slurmctld.put('jobs', '12\n');
  await slurmctld.configure('two');
  await until('it waits', () => slurmctld.output().includes('waiting for jobs whose PrologSlurmctld runs'));
  await slurmctld.turns();
  assert.deepEqual(await slurmctld.told(), []);
  await slurmctld.put('jobs', '');
  assert.deepEqual(await slurmctld.untilTold('two'), ['two', 'two']);
});

test('no job starts around a reconfigure, and slurmctld has sent everything before', async () => {
  const slurmctld = await start({ told: 'one', version: 'one' });
  await slurmctld.put('agents', 'Agent queue size:     1\nAgent count:          0\n');
  await slurmctld.configure('two');
  await until('it asks', async () => (await slurmctld.pauses()).includes('asked'));
  await slurmctld.turns();
  assert.deepEqual(await slurmctld.told(), [], 'a launch was not sent');
  await slurmctld.put('agents', 'Agent queue size:     0\nAgent count:          0\n');
  await slurmctld.untilTold('two', 1);
  await until('the pause is over', async () => (await slurmctld.pauses()).includes('end'));
  const seen = (await slurmctld.pauses()).filter((each, index, all) => each !== all[index - 1]);
  assert.deepEqual(seen.slice(0, 4), ['pause', 'asked', 'reconfigure', 'end']);
});

test('a reconfigure does not wait without a limit for a worker that is lost, nor for a pause that someone left', async () => {
  const slurmctld = await start({ told: 'one', version: 'one' });
  await slurmctld.put('agents', 'Agent queue size:     3\nAgent count:          1\n');
  await slurmctld.put('paused', '');
  await slurmctld.configure('two');
  await slurmctld.untilTold('two', 1);
  assert.deepEqual((await slurmctld.pauses()).slice(0, 4), ['pause', 'end', 'pause', 'asked']);
});

const savesPower = 'ResumeProgram           = /bin/true\n';

test('creates the nodes of autoscaled NodeSets once, with a Slurm that cannot over REST', async () => {
  const line = 'NodeName=w-[0-1] CPUs=4 Feature=w State=CLOUD';
  const commands = [
    'create NodeName=w-0 CPUs=4 Feature=w State=CLOUD',
    'create NodeName=w-1 CPUs=4 Feature=w State=CLOUD',
  ];
  const old = await start({
    told: 'one',
    version: 'one',
    image: '24.11',
    config: 'ResumeProgram = (null)\n',
  });
  await old.put('.autoscale-nodes', `${line}\n`);
  await old.turns();
  assert.deepEqual(await old.told(), [], 'slurmctld would give them jobs and never wake them');
  await old.put('config', savesPower);
  await old.turns();
  assert.deepEqual(
    (await old.told()).filter((said) => said.startsWith('create')),
    commands,
  );
  await old.put('broken', '');
  await old.put('.autoscale-nodes', `${line} \n`);
  await old.turns();
  const tries = (await old.told()).filter((said) => said.startsWith('create')).length;
  assert.ok(tries > 4, `what failed is tried again: ${tries}`);
  const current = await start({ told: 'one', version: 'one' });
  await current.put('.autoscale-nodes', `${line}\n`);
  await current.turns();
  assert.deepEqual(
    (await current.told()).filter((said) => said.startsWith('create')),
    [],
  );
});

test('slurmctld reads its files again after a creation, unless it would forget a partition', async () => {
  const line = 'NodeName=w-[0-1] CPUs=4 Feature=w State=CLOUD\n';
  const slurmctld = await start({ told: 'one', version: 'one', image: '24.11', config: savesPower });
  await slurmctld.put('.autoscale-nodes', line);
  const told = await slurmctld.untilTold('one', 1);
  assert.deepEqual(told.slice(2), ['one'], 'once, when all are created');
  const careful = await start({
    told: 'one',
    version: 'one',
    image: '24.11',
    config: savesPower,
    partitions: 'PartitionName=adhoc Nodes=ALL\n',
  });
  await careful.put('.autoscale-nodes', line);
  await until('it says so', () => /would forget partition adhoc/.test(careful.output()));
  await careful.turns();
  assert.ok(!(await careful.told()).includes('one'));
});

test('creates a node again that is listed for longer: a slurmctld that was killed may have forgotten it', async () => {
  const slurmctld = await start({
    told: 'one',
    version: 'one',
    image: '24.11',
    listed: 1,
    config: savesPower,
  });
  await slurmctld.put('.autoscale-nodes', 'NodeName=w-[0-1] CPUs=4 Feature=w State=CLOUD\n');
  await slurmctld.untilTold('create NodeName=w-1 CPUs=4 Feature=w State=CLOUD');
});

test('a slurmctld that keeps its jobs in its pod reads a new jwt.key without a restart', async () => {
  const pod = await start({ version: 'one', inPod: true });
  await pod.turns();
  assert.deepEqual(await pod.told(), [], 'the key that it started with');
  await pod.put('jwt.key', 'two');
  assert.deepEqual(await pod.untilTold('one', 1), ['one']);
  assert.match(pod.output(), /slurmctld has read a new jwt\.key/);
  await pod.configure('two', 'one');
  await pod.put('jwt.key', 'three');
  await pod.turns();
  assert.deepEqual(await pod.told(), ['one'], 'not with files that are not tried yet');
});

test('a new jwt.key is not read where Slurm would forget a partition, nor by a slurmctld that is restarted for it', async () => {
  const adhoc = await start({ version: 'one', inPod: true, partitions: 'PartitionName=adhoc\n' });
  await adhoc.turns();
  await adhoc.put('jwt.key', 'two');
  await until('it says so', () => /does not read the new jwt\.key.*adhoc/.test(adhoc.output()));
  assert.deepEqual(await adhoc.told(), []);
  await adhoc.put('partitions', '');
  await adhoc.untilTold('one', 1);
  const kept = await start({ version: 'one' });
  await kept.turns();
  await kept.put('jwt.key', 'two');
  await kept.turns();
  assert.deepEqual(await kept.told(), []);
});
