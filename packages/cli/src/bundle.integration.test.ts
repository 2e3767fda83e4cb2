import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { bundleCli } from './bundle.ts';
import { commandHelp, overview } from './command-line/help.ts';
import { commands } from './commands/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-bundle-'));
const file = join(directory, 'kubectl-slurm');
let bytes = 0;
let loaded = 0;
before(async () => {
  const { content, atStart } = await bundleCli();
  loaded = atStart;
  bytes = Buffer.byteLength(content);
  writeFileSync(file, content, { mode: 0o755 });
});
after(() => rmSync(directory, { recursive: true, force: true }));

const run = (words: readonly string[]) =>
  spawnSync(process.execPath, [file, ...words], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', HOME: directory },
  });

test('the file is smaller than 400 kB, and so is what every command loads of it, unpacked', () => {
  assert.ok(bytes < 400 * 1024, `${bytes} bytes`);
  assert.ok(loaded > 100 * 1024 && loaded < 400 * 1024, `${loaded} bytes`);
});

test('doctor, plan, diff and dashboard load the rest of the program from the file', () => {
  const away = ['--server', 'http://127.0.0.1:1', '--request-timeout', '300ms'];
  for (const words of [['doctor'], ['plan', 'gpu'], ['diff', '-f', 'none.yaml'], ['dashboard'], ['check']]) {
    const { status, stdout, stderr } = run([...words, ...away]);
    assert.equal(status, 2, stderr);
    const said = `${stdout}${stderr}`;
    assert.doesNotMatch(said, /Cannot find|is not a|undefined|page is in the bundled|✔/);
    // It says of each part that it could not look.
    if (words[0] === 'check')
      assert.match(said, /^\? Nothing was found, but part of it could not be checked\.\n/);
    else assert.match(said, /^kubectl slurm: [^\n]*\n$/, words.join(' '));
  }
});

test('help without loading the program is the help of the program', () => {
  assert.equal(run([]).stdout, overview(commands));
  assert.equal(run(['--help']).stdout, overview(commands));
  assert.equal(run(['help']).stdout, overview(commands));
  for (const command of commands.filter((_, index) => index % 4 === 0))
    assert.equal(run([...command.name.split(' '), '--help']).stdout, commandHelp(command));
});

test('the program itself runs: errors, completion, options', () => {
  const wrong = run(['statsu']);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /^kubectl slurm: unknown command "statsu"; did you mean "status"\?/);
  assert.match(run(['__complete', 'pl']).stdout, /^plan\t.*\n:4\n$/);
  assert.match(execFileSync(process.execPath, [file, 'options'], { encoding: 'utf8' }), /--namespace/);
});

test('the script for bash completes words of commands, and leaves files to bash', () => {
  const complete = (...words: readonly string[]) => {
    const script = [
      `source <("$NODE" "$PLUGIN" completion bash)`,
      'kubectl-slurm() { "$NODE" "$PLUGIN" "$@"; }',
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kubectl_slurm; printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const env = { PATH: process.env['PATH'] ?? '', HOME: directory, NODE: process.execPath, PLUGIN: file };
    return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8', env });
  };
  assert.equal(complete('kubectl-slurm', 'rollout', 'st'), 'status\n');
  assert.equal(complete('kubectl-slurm', 'jobs', '-o', ''), 'table\nwide\njson\nyaml\nname\n');
  assert.equal(complete('kubectl-slurm', 'drain', '--rea'), '--reason\n');
  assert.equal(complete('kubectl-slurm', 'submit', ''), '\n');
  assert.equal(run(['__complete', 'diff', '-f', '']).stdout, ':0\n');
});
