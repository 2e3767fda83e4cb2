/** What others wrote, and what cannot be known, must not mislead the reader. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { CliWorld } from '../testing/cli-world.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.start();
});
after(() => world.stop());

const here = ['-n', 'hpc'];

// oxlint-disable-next-line no-control-regex -- they are what must not be there
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;
// oxlint-disable-next-line no-control-regex -- those of this program
const colourCodes = /\u001b\[(1|22|3[1239]|39|90)m/g;
const escape = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e';

test('terminal escapes in names and reasons reach no terminal, and JSON and YAML keep the name', async () => {
  const name = `evil${escape}\nforged line`;
  const running = world.slurm.cluster.runJob(['gpu-0'], { name, user: 'mallory', timeLimit: 5 });
  const waiting = world.slurm.cluster.createJob({ name, user: 'mallory', reason: 'Priority' }).id;
  await world.slurm.client().nodes.drain('gpu-1', `bad${escape}`);
  try {
    for (const words of [
      ['jobs'],
      ['jobs', '--why'],
      ['jobs', '-o', 'name'],
      ['job', String(waiting)],
      ['job', String(running)],
      ['doctor'],
      ['doctor', `job/${waiting}`],
      ['doctor', '-o', 'json'],
      ['nodes', '--why'],
      ['plan', 'gpu', '--restart'],
      ['__complete', ...here, 'job', ''],
    ])
      for (const colours of [false, true]) {
        const isCompletion = words[0] === '__complete';
        const { out, err } = await world.run(isCompletion ? words : [...words, ...here], { colours });
        const rest = (out + err).replaceAll(colourCodes, '');
        assert.doesNotMatch(rest, controlCharacters, words.join(' '));
        assert.doesNotMatch(out, /^forged line/m, words.join(' '));
      }
    const json = JSON.parse((await world.run(['job', String(waiting), '-o', 'json', ...here])).out) as {
      name: string;
    };
    assert.equal(json.name, name);
    const yaml = (await world.run(['job', String(waiting), '-o', 'yaml', ...here])).out;
    assert.equal((parse(yaml) as { name: string }).name, name);
  } finally {
    await world.slurm.client().nodes.undrain('gpu-1');
    for (const id of [running, waiting]) await world.run(['cancel', String(id), ...here]);
  }
});

test('doctor: what could not be read is exit code 2, what may not be read is not', async () => {
  await world.slurm.refuse();
  try {
    const unknown = await world.run(['doctor', 'nodeset/gpu', ...here]);
    assert.deepEqual([unknown.code, /^\? Nothing was found/m.test(unknown.out)], [2, true], unknown.out);
  } finally {
    await world.slurm.listen();
  }
  const { code, out } = await world.run(['doctor', 'nodeset/gpu', ...here], { user: 'viewer' });
  assert.equal(code, 0, out);
  assert.match(out, /^✔ Nothing is wrong with nodeset gpu, as far as you may look\./m);
  assert.match(out, /Not checked: .*This needs a Slurm\s+token/s);
});

test('status and doctor say that no operator runs, by the clock of the API server', async () => {
  assert.doesNotMatch((await world.run(['status', ...here])).out, /No operator/);
  await world.renewLease(3 * 3_600_000);
  try {
    const { out, code } = await world.run(['status', ...here]);
    assert.match(out, /! No operator has been running for 3 h: this is what it saw last\./);
    assert.equal(code, 1);
    assert.match((await world.run(['doctor', ...here])).out, /A\d +No operator has been leading for 3 h|A2/);
  } finally {
    await world.renewLease(0);
  }
});

test('nodes of a partition are not guessed from pods', async () => {
  await world.slurm.refuse();
  try {
    const { code, err, out } = await world.run(['nodes', '-p', 'all', ...here]);
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, /Slurm does not respond/);
  } finally {
    await world.slurm.listen();
  }
});
