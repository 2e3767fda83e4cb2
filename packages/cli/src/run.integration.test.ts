/** Commands from words to output and exit code, on an embedded API server with a simulated slurmrestd. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { signJwt } from '@slurm-operator/slurm';
import { CliWorld } from '../testing/cli-world.ts';
import { globalFlags } from './command-line/command.ts';
import { commands } from './commands/index.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.start();
});
after(() => world.stop());

const here = ['-n', 'hpc'];
const token = () => ({ SLURM_JWT: world.slurm.token('root') });

test('bad input: one sentence, exit code 2, no stack trace', async () => {
  const expired = signJwt({
    key: world.slurm.jwtKey,
    user: 'alice',
    lifetimeSeconds: 1,
    now: Date.now() - 60_000,
  });
  const table: readonly (readonly [string, readonly string[], RegExp, Parameters<CliWorld['run']>[1]?])[] = [
    ['no cluster', ['status', '-n', 'empty'], /no Slurm cluster in namespace empty; try -n hpc or -n twice/],
    ['several clusters', ['status', '-n', 'twice'], /has 2 clusters \(one, two\): choose one with --cluster/],
    [
      'a cluster that does not exist',
      ['status', '-n', 'hpc', '--cluster', 'x'],
      /no Cluster x in namespace hpc/,
    ],
    [
      'no rights',
      ['jobs', ...here],
      /needs a Slurm token: export SLURM_JWT, or ask for the right to read Secret slurm-token/,
      { user: 'viewer' },
    ],
    [
      'an expired token',
      ['jobs', ...here],
      /token in \$SLURM_JWT expired at/,
      { env: { SLURM_JWT: expired } },
    ],
    [
      'a token of another key',
      ['jobs', ...here],
      /does not accept the token/,
      { env: { SLURM_JWT: `${world.slurm.token()}x` } },
    ],
    ['a job that is long gone', ['job', '99999', ...here], /does not know job 99999/],
    ['a word that is no job', ['job', 'abc', ...here], /"abc" is not the number of a job/],
    ['an unknown target', ['doctor', 'pod/x', ...here], /none of job\/ID, worker\/NAME/],
    ['an unknown node', ['drain', 'gpu-[7-9]', '--reason', 'x', ...here], /Slurm has no node gpu-\[7-9\]/],
    ['a broken hostlist', ['drain', 'gpu-[7', '--reason', 'x', ...here], /is not a node or a hostlist/],
    ['no reason', ['drain', 'gpu-0', ...here], /Give a --reason/],
    ['an unknown command', ['nodse'], /did you mean "nodes"/],
    ['half a command', ['rollout'], /rollout needs one of: status, pause, resume, undo/],
    ['an unknown NodeSet', ['rollout', 'status', 'x', ...here], /no NodeSet x in namespace hpc/],
    ['a file that does not exist', ['submit', '/no/such.sh', ...here], /\/no\/such\.sh cannot be read/],
    [
      'a time that is none',
      ['logs', 'slurmctld', '--since', 'x', ...here],
      /no pod of slurmctld|must be a time/,
    ],
    [
      'a kubeconfig that does not exist',
      ['status', '--request-timeout', 'soon'],
      /--request-timeout must be a time/,
    ],
    ['groups without a user', ['status', ...here, '--as-group', 'x'], /need --as: name the user/],
    ['an address that is none', ['status', ...here, '--server', 'x y'], /--server must be an address/],
    ['a file of a flag', ['status', ...here, '--client-key', '/no/such'], /--client-key: .* cannot be read/],
  ];
  for (const [reason, words, says, as] of table) {
    const { code, out, err } = await world.run(words, as);
    assert.equal(code, 2, `${reason}: ${out}${err}`);
    assert.match(err, says, reason);
    assert.equal(err.trim().split('\n').length, 1, `${reason}: one line, not ${err}`);
    assert.doesNotMatch(err, /^ +at |Error:/m, reason);
    assert.equal(out, '', reason);
  }
});

test('an unreachable slurmrestd is one sentence; nodes shows what the pods say', async () => {
  await world.slurm.refuse();
  try {
    const jobs = await world.run(['jobs', ...here]);
    assert.equal(jobs.code, 2);
    assert.match(jobs.err, /^kubectl slurm: Slurm does not respond: .*cannot reach slurmrestd/);
    const nodes = await world.run(['nodes', ...here]);
    assert.equal(nodes.code, 0);
    assert.match(nodes.err, /From the worker pods only/);
    assert.match(nodes.out, /gpu-1 +unknown/);
    const doctor = await world.run(['doctor', ...here]);
    assert.match(doctor.out, /Not checked: .*jobs.*: Slurm does not respond/s);
  } finally {
    await world.slurm.listen();
  }
});

test('jobs: submitted, listed in every format, explained, held, released, cancelled', async () => {
  const submitted = await world.run(['submit', '-', '-o', 'name', ...here], { env: token() });
  assert.match(submitted.out, /^job\/(\d+)\n$/, submitted.err);
  const id = /\d+/.exec(submitted.out)?.[0] ?? '';
  const listed = await world.run(['jobs', '-a', ...here]);
  assert.match(listed.out, new RegExp(`^JOB .*\\n(.*\\n)*${id} `));
  const json = JSON.parse((await world.run(['jobs', '-a', '-o', 'json', ...here])).out) as {
    kind: string;
    items: { id: string }[];
  };
  assert.equal(json.kind, 'JobList');
  assert.ok(json.items.some((job) => job.id === id));
  assert.match(
    (await world.run(['job', id, '-o', 'yaml', ...here])).out,
    /^apiVersion: cli\.slinky\.slurm\.net\/v1\nkind: Job\n/,
  );
  const cancelled = await world.run(['cancel', id, ...here]);
  assert.deepEqual([cancelled.code, cancelled.out], [0, `job/${id} cancelled\n`]);
  const again = await world.run(['cancel', '424242', ...here]);
  assert.equal(again.code, 2);
  assert.match(again.err, /job 424242: Slurm does not know it/);
});

test('drain and resume: asked once, refused by the user, and by what the operator drained', async () => {
  const no = await world.run(['drain', 'gpu-[0-1]', '--reason', 'new disk', ...here], { answer: 'n' });
  assert.deepEqual([no.code, no.out], [3, '']);
  assert.match(no.err, /Nothing was changed/);
  const yes = await world.run(['drain', 'gpu-[0-1]', '--reason', 'new disk', '--wait', ...here], {
    answer: 'y',
  });
  assert.equal(yes.out, 'node/gpu-0 drained\nnode/gpu-1 drained\n', yes.err);
  const found = await world.run(['doctor', 'node/gpu-0', ...here]);
  assert.equal(found.code, 1);
  assert.match(found.out, /E2 +gpu-\[0-1\] are drained by \S+, \d+ s ago: "new disk"/);
  assert.match(found.out, /Do {2}kubectl slurm -n hpc resume gpu-\[0-1\]/);
  assert.match(
    (await world.run(['nodes', '--state', 'drained', '-o', 'name', ...here])).out,
    /^node\/gpu-0\nnode\/gpu-1\n$/,
  );
  const back = await world.run(['resume', 'gpu-[0-2]', ...here]);
  assert.match(back.out, /gpu-0 resumed\nnode\/gpu-1 resumed\nnode\/gpu-2 takes jobs already/);
  const { nodes } = world.slurm.client();
  await nodes.drain('gpu-1', 'fan');
  const late = await world.run(['resume', 'gpu-1', ...here], {
    answer: 'y',
    onAsk: async () => {
      await nodes.undrain('gpu-1');
      await nodes.drain('gpu-1', 'slurm-operator: update');
    },
  });
  assert.deepEqual([late.code, late.out], [3, ''], 'drained by the operator while the person was asked');
  await nodes.undrain('gpu-1');
  await world.slurm.client().nodes.drain('gpu-2', 'slurm-operator: update');
  const ours = await world.run(['resume', 'gpu-2', ...here]);
  assert.equal(ours.code, 3);
  assert.match(ours.err, /The operator drained gpu-2 .* would do so again/);
  assert.equal((await world.run(['resume', 'gpu-2', '--force', ...here])).code, 0);
});

test('a wait has a deadline, and survives a slurmrestd that is away for a moment', async () => {
  const job = world.slurm.cluster.runJob(['gpu-0'], { timeLimit: 60 });
  try {
    const words = ['drain', 'gpu-0', '--reason', 'x', '--wait', ...here];
    const late = await world.run([...words, '--timeout', '1']);
    assert.equal(late.code, 2);
    assert.match(late.err, /After 1 s, gpu-0 is not drained yet/);
    const bad = await world.run([...words, '--timeout', 'soon']);
    assert.match(bad.err, /--timeout must be seconds/);
    assert.equal(bad.out, '', 'nothing was changed');
    let told = '';
    const waiting = world.run([...words, '--timeout', '60'], { onErr: (text) => (told += text) });
    await until('it waits', () => told.includes('waiting for gpu-0'));
    await world.slurm.refuse();
    await until('it notices', () => told.includes('No answer; trying again'));
    await world.slurm.listen();
    await world.run(['cancel', String(job), ...here]);
    const done = await waiting;
    assert.equal(done.code, 0, done.err);
  } finally {
    await world.run(['resume', 'gpu-0', ...here]);
  }
});

test('submit --wait: a job that slurmctld has forgotten is as good as the accounting says', async () => {
  const { cluster } = world.slurm;
  const submitted = async (end: (id: number) => void) => {
    let told = '';
    const waiting = world.run(['submit', '-', '--wait', ...here], {
      env: token(),
      onErr: (text) => (told += text),
    });
    const id = Number(await until('it waits', () => /job\/(\d+) [A-Z]+/.exec(told)?.[1]));
    end(id);
    return waiting;
  };
  const forgotten = (state: string) => (id: number) => {
    cluster.finishJob(id, state);
    cluster.forgetJob(id);
  };
  assert.equal((await submitted(forgotten('COMPLETED'))).code, 0);
  const failed = await submitted(forgotten('FAILED'));
  assert.deepEqual([failed.code, /job\/\d+ FAILED\n$/.test(failed.err)], [1, true], failed.err);
  const unknown = await submitted((id) => {
    cluster.finishJob(id);
    cluster.jobs.delete(id);
  });
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /how it ended is not known/);
});

test('rollout: paused, resumed, and a status that is not over is exit code 1', async () => {
  assert.match((await world.run(['rollout', 'pause', 'nodeset/gpu', ...here])).out, /nodeset\/gpu paused/);
  assert.match((await world.run(['rollout', 'pause', 'nodeset/gpu', ...here])).out, /is paused already/);
  assert.match((await world.run(['rollout', 'resume', 'gpu', ...here])).out, /nodeset\/gpu resumed/);
  const status = await world.run(['rollout', 'status', 'gpu', ...here]);
  assert.equal(status.code, 1);
  assert.match(status.out, /waiting for the operator to see the change/);
});

test('completion follows the protocol of kubectl', async () => {
  assert.match((await world.run(['__complete', 'dr'])).out, /^drain\tLet no new jobs.*\n:4\n$/);
  assert.match((await world.run(['__complete', ...here, 'drain', ''])).out, /^gpu-0\ngpu-1\ngpu-2\n:4\n$/);
  assert.match((await world.run(['__complete', 'rollout', ''])).out, /^status\t.*\npause\t/);
  assert.match(
    (await world.run(['__complete', ...here, 'jobs', '-o', ''])).out,
    /^table\nwide\njson\nyaml\nname\n:4\n$/,
  );
  assert.match((await world.run(['__complete', ...here, 'rollout', 'undo', ''])).out, /^nodeset\/gpu\n:4/);
});

test('colours are escape codes only where they are asked for', async () => {
  const escapes = async (words: readonly string[], colours: boolean) =>
    (await world.run([...words, ...here], { colours })).out.includes('\u001b[');
  assert.equal(await escapes(['nodes'], false), false);
  assert.equal(await escapes(['nodes'], true), true);
  assert.equal(await escapes(['nodes', '--no-color'], true), false);
});

test('kubectl flags: address, token, impersonation', async () => {
  const { code, err } = await world.run(['status', ...here, '--as', 'who-is-this']);
  assert.equal(code, 2, err);
  assert.match(err, /You may not look: .*who-is-this/);
  const denied = await world.run(['status', ...here, '--token', 'not-a-token']);
  assert.match(denied.err, /Kubernetes does not accept your credentials/);
  const away = await world.run(['status', ...here, '--server=https://127.0.0.1:1', '--request-timeout=1s']);
  assert.equal(away.code, 2);
  assert.match(away.err, /The Kubernetes API does not respond/);
});

test('no flag of a command hides a flag of all commands', () => {
  const known = new Set(globalFlags.flatMap(({ name, short }) => [name, short ?? name]));
  for (const { name, flags } of commands)
    for (const flag of flags)
      assert.ok(!known.has(flag.name) && !known.has(flag.short ?? ''), `${name} --${flag.name}`);
});
