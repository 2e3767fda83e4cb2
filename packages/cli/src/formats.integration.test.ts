/** What holds for every command: formats of the answer, and the question before a change. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { CliWorld } from '../testing/cli-world.ts';
import { outputFormats } from './command-line/command.ts';
import { commands } from './commands/index.ts';

let world: CliWorld;
let job = 0;
before(async () => {
  world = await CliWorld.start();
  job = world.slurm.cluster.createJob({ reason: 'Priority', timeLimit: 60 }).id;
});
after(() => world.stop());

const here = ['-n', 'hpc'];

/** How each command is called that answers in formats. */
const calls = (): Readonly<Record<string, readonly string[]>> => ({
  status: [],
  doctor: [],
  top: [],
  check: [],
  jobs: [],
  job: [String(job)],
  submit: ['-', '--test'],
  hold: [String(job)],
  release: [String(job)],
  requeue: [String(world.slurm.cluster.runJob(['gpu-2'], { timeLimit: 60 }))],
  cancel: [String(world.slurm.cluster.createJob({ reason: 'Priority' }).id)],
  nodes: [],
  drain: ['gpu-0', '--reason', 'x'],
  resume: ['gpu-0'],
  plan: ['gpu', '--restart'],
  'rollout status': ['gpu'],
  'rollout pause': ['gpu'],
  'rollout resume': ['gpu'],
  version: [],
});
/** `diff` needs a file, and `rollout undo` an earlier revision: their own tests call them. */
const elsewhere = ['diff', 'rollout undo'];

test('every command answers in each format that it has, and refuses the others', async () => {
  const refused: string[] = [];
  for (const command of commands) {
    const has = command.formats ?? outputFormats;
    if (command.passesOn === true || elsewhere.includes(command.name)) continue;
    for (const format of outputFormats) {
      const call = calls()[command.name] ?? [];
      const words = [...command.name.split(' '), ...call, ...here, '-o', format];
      const { code, out, err } = await world.run(words);
      const what = `${words.join(' ')}: exit code ${code}: ${out}${err}`;
      if (!has.includes(format)) {
        assert.equal(code, 2, what);
        assert.match(err, /takes no --output|has no output as/, what);
        refused.push(`${command.name} ${format}`);
        continue;
      }
      assert.ok(calls()[command.name] !== undefined, `${command.name} has no call in this test`);
      assert.ok(code <= 1, what);
      if (format === 'json' || format === 'yaml') {
        const answer = (format === 'json' ? JSON.parse(out) : parse(out)) as Record<string, unknown>;
        assert.equal(answer['apiVersion'], 'cli.slinky.slurm.net/v1', what);
        assert.equal(typeof answer['kind'], 'string', what);
      } else if (format === 'name') assert.match(out, /^(([A-Z]\d+ )?[a-z]+\/\S+\n)*$/, what);
      else assert.doesNotMatch(out, /^[{[]|apiVersion/, what);
    }
  }
  assert.ok(refused.includes('logs json') && !refused.includes('jobs name'));
});

test('every change asks once on a terminal; no is exit code 3, and --yes asks nothing', async () => {
  const asking = [
    'hold',
    'release',
    'requeue',
    'cancel',
    'drain',
    'resume',
    'rollout pause',
    'rollout resume',
  ];
  for (const name of asking) {
    if (name === 'rollout resume') await world.run(['rollout', 'pause', 'gpu', ...here]);
    if (name === 'rollout pause') await world.run(['rollout', 'resume', 'gpu', ...here]);
    const words = [...name.split(' '), ...(calls()[name] ?? []), ...here];
    const requests = world.slurm.requests.filter(({ method }) => method !== 'GET').length;
    const no = await world.run(words, { answer: 'n' });
    assert.deepEqual([no.code, no.out], [3, ''], `${name}: ${no.err}`);
    assert.match(no.err, /Nothing was changed\.\n$/, name);
    assert.equal(world.slurm.requests.filter(({ method }) => method !== 'GET').length, requests, name);
    const yes = await world.run([...words, '--yes'], { answer: 'n' });
    assert.equal(yes.code, 0, `${name}: ${yes.err}`);
  }
});
