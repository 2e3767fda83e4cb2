import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LocalTimeFormat } from './local-time.ts';
import { type LoginNode, slurmCommand, slurmDoctor } from './slurm-doctor.ts';
import type { Ran } from './slurm-programs.ts';

const now = Date.UTC(2026, 10, 19, 12);
const set = (number: number) => ({ set: true, infinite: false, number });
const meta = { plugin: { data_parser: 'data_parser/v0.0.45' } };

const job = (id: number, fields: object = {}) => ({
  job_id: id,
  name: 'train',
  user_name: 'alice',
  partition: 'gpu',
  job_state: ['PENDING'],
  state_reason: 'Priority',
  cpus: set(1),
  node_count: set(1),
  priority: set(10),
  ...fields,
});
const node = (name: string, fields: object = {}) => ({
  name,
  state: ['IDLE'],
  cpus: 4,
  real_memory: 4000,
  partitions: ['gpu'],
  ...fields,
});
const partition = { name: 'gpu', nodes: { configured: 'gpu-[0-1]', total: 2 }, partition: { state: ['UP'] } };

interface World {
  readonly jobs?: readonly object[];
  readonly nodes?: readonly object[];
  readonly answers?: Readonly<Record<string, Ran>>;
}

const good = (answer: object): Ran => ({
  ok: true,
  out: JSON.stringify({ meta, errors: [], ...answer }),
  err: '',
});

/** Slurm's programs by the first words of a command. */
function loginNode({ jobs = [], nodes = [node('gpu-0'), node('gpu-1')], answers = {} }: World = {}) {
  const known: Readonly<Record<string, Ran>> = {
    squeue: good({ jobs }),
    'scontrol show nodes': good({ nodes }),
    'scontrol show partitions': good({ partitions: [partition] }),
    'scontrol show reservations': good({ reservations: [] }),
    'scontrol show licenses': good({ licenses: [] }),
    sdiag: good({ statistics: {} }),
    'sacctmgr show associations': good({ associations: [] }),
    sacct: good({ jobs: [] }),
    ...answers,
  };
  const asked: string[] = [];
  const login: LoginNode = {
    run: (commands) =>
      commands.map((command) => {
        asked.push(command.join(' '));
        return (
          known[command.slice(0, 3).join(' ')] ?? known[command[0] ?? ''] ?? assert.fail(command.join(' '))
        );
      }),
    user: 'alice',
    now,
    columns: 120,
    isTty: false,
    env: {},
  };
  return { login, asked };
}

const ask = (words: readonly string[], world?: World) => slurmDoctor(words, loginNode(world).login);

test('explains each waiting job of the user, and none of others', () => {
  const jobs = [job(1), job(2, { user_name: 'bob', priority: set(20) }), job(3, { job_state: ['RUNNING'] })];
  const { out, exitCode } = ask([], { jobs });
  assert.match(
    out,
    /^job 1 · train · alice · partition gpu · PENDING\n\n· F1 +Priority: 1 pending job of partition gpu has a higher/,
  );
  assert.doesNotMatch(out, /job 2 ·|job 3 ·/);
  assert.equal(exitCode, 0);
  assert.equal(ask([], { jobs: jobs.slice(1) }).out, 'No job of alice waits.\n');
});

test('explains one task of an array, and five jobs at most', () => {
  const tasks = [0, 1].map((task) => job(10 + task, { array_job_id: set(10), array_task_id: set(task) }));
  assert.equal(ask([], { jobs: tasks }).out.match(/^job /gm)?.length, 1);
  assert.match(ask(['10_1'], { jobs: tasks }).out, /^job 11 /);
  const many = Array.from({ length: 7 }, (_, index) => job(index + 1));
  assert.match(ask([], { jobs: many }).out, /\n2 more of your jobs wait: slurm-doctor JOB explains one\.\n$/);
});

test('a task of an array is never explained with the record of another one', () => {
  const waiting = job(10, { array_job_id: set(10), array_task_string: '3-9%2' });
  const running = job(12, { array_job_id: set(10), array_task_id: set(2), job_state: ['RUNNING'] });
  const jobs = [running, waiting];
  assert.match(ask(['10_4'], { jobs }).out, /^job 10 · .* · PENDING/);
  assert.match(ask(['10_2'], { jobs }).out, /^job 12 · .* · RUNNING/);
  const ended = loginNode({
    jobs,
    answers: { sacct: good({ jobs: [{ job_id: 11, name: 'train', state: { current: ['FAILED'] } }] }) },
  });
  assert.match(slurmDoctor(['10_1'], ended.login).out, /It ended as FAILED/);
  assert.ok(ended.asked.includes('sacct --jobs 10_1 --json'), ended.asked.join('\n'));
  assert.match(ask(['10_99'], { jobs }).err, /does not know job 10_99/);
});

test('exit code 1 where something keeps a job or a node from running', () => {
  const held = ask(['job/1'], { jobs: [job(1, { state_reason: 'JobHeldAdmin' })] });
  assert.equal(held.exitCode, 1, held.out);
  const drained = node('gpu-1', { state: ['IDLE', 'DRAIN'], reason: 'new disk', reason_set_by_user: 'bob' });
  const { out, exitCode } = ask(['node/gpu-1'], { nodes: [node('gpu-0'), drained] });
  assert.match(out, /gpu-1 is drained/);
  assert.match(out, /Do +An administrator: kubectl slurm resume gpu-1/);
  assert.equal(exitCode, 1);
  assert.deepEqual(ask(['node/gpu-0']).exitCode, 0);
});

test('asks the accounting only for a job that slurmctld has forgotten', () => {
  const world = loginNode({ jobs: [job(1)] });
  slurmDoctor(['1'], world.login);
  assert.ok(!world.asked.some((command) => command.startsWith('sacct ')));
  const gone = ask(['7']);
  assert.deepEqual([gone.exitCode, gone.out], [2, '']);
  assert.match(gone.err, /^slurm-doctor: Slurm does not know job 7: .*\n$/);
});

test('one sentence and exit code 2 where it cannot look', () => {
  const answers = (ran: Partial<Ran>) => ({ answers: { squeue: { ok: false, out: '', err: '', ...ran } } });
  for (const [reason, words, world, says] of [
    [
      'slurmctld is away',
      [],
      answers({ err: '\nsqueue: error: Unable to contact slurm controller\nmore' }),
      /squeue: error: Unable to contact slurm controller\n$/,
    ],
    [
      'no permission',
      ['1'],
      answers({ err: 'slurm_load_jobs error: Access/permission denied' }),
      /denied\n$/,
    ],
    ['no JSON', [], answers({ ok: true, out: 'plain' }), /squeue/],
    [
      'another version',
      [],
      answers({ ok: true, out: '{"meta":{"plugin":{"data_parser":"data_parser/v9"}}}' }),
      /prints v9, which this program cannot read\n$/,
    ],
    ['no list', [], answers({ ok: true, out: JSON.stringify({ meta }) }), /no list "jobs"\n$/],
    [
      'errors',
      [],
      answers({ ok: true, out: JSON.stringify({ meta, errors: [{ description: 'too late' }] }) }),
      /too late\n$/,
    ],
    ['a wrong word', ['a b'], {}, /"a b" is neither the number of a job nor the name of a node/],
    ['two words', ['1', '2'], {}, /give one job or node/],
    ['no such node', ['node/x'], {}, /Slurm has no node x; sinfo lists/],
  ] as const) {
    const { out, err, exitCode } = ask(words, world);
    assert.deepEqual([exitCode, out], [2, ''], reason);
    assert.match(err, says, reason);
    assert.equal(err.trim().split('\n').length, 1, reason);
  }
});

test('a piece that cannot be read is named, and nothing is concluded from it', () => {
  const answers = { 'scontrol show nodes': { ok: false, out: '', err: 'scontrol: error: timed out' } };
  const { out, exitCode } = ask(['1'], { jobs: [job(1, { state_reason: 'Resources' })], answers });
  assert.match(out, /Not checked: Slurm nodes: scontrol show nodes: scontrol: error: timed out/);
  assert.equal(exitCode, 2);
});

test('a site without accounting has nothing to check there', () => {
  const none = { ok: false, out: '', err: 'You are not running a supported accounting_storage plugin\n' };
  const { out } = ask(['1'], {
    jobs: [job(1)],
    answers: { 'sacctmgr show associations': none, sacct: none },
  });
  assert.doesNotMatch(out, /Not checked/);
  assert.match(
    ask(['7'], { answers: { 'sacctmgr show associations': none, sacct: none } }).err,
    /does not know job 7/,
  );
});

test('no control character of a name reaches the terminal', () => {
  const { out } = ask(['1'], { jobs: [job(1, { name: 'a\u001b[2Jb', state_reason: 'JobHeldUser' })] });
  // oxlint-disable-next-line no-control-regex -- it is what is looked for
  assert.doesNotMatch(out, /\u001b/);
});

test('commands are those of Slurm; what needs Kubernetes is for administrators', () => {
  for (const [ours, theirs] of [
    ['kubectl slurm scontrol -- update jobid=7 numnodes=1', 'scontrol update jobid=7 numnodes=1'],
    ['Ask for less. To cancel: kubectl slurm cancel 7', 'Ask for less. To cancel: scancel 7'],
    ['kubectl slurm release 7', 'scontrol release 7'],
    ['kubectl slurm job 7', 'scontrol show job 7'],
    ['kubectl slurm nodes --why', 'sinfo --list-reasons'],
    ['kubectl slurm resume gpu-1', 'An administrator: kubectl slurm resume gpu-1'],
    ['Wait.', 'Wait.'],
  ] as const)
    assert.equal(slurmCommand(ours), theirs);
});

test('times without Intl are those that Intl writes in the zone of the process', () => {
  const at = now + 3 * 86_400_000 + 5 * 60_000;
  for (const options of [
    { hour: '2-digit', minute: '2-digit' },
    { weekday: 'short' },
    { year: 'numeric', month: '2-digit', day: '2-digit' },
  ] as const)
    assert.equal(
      new LocalTimeFormat('en-GB', options).format(at),
      new Intl.DateTimeFormat('en-GB', options).format(at),
    );
});
