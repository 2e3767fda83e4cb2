import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCommand } from '@slurm-operator/sandbox';
import fc from 'fast-check';

const source = join(import.meta.dirname, 'options.bash');

/** What a function of options.bash makes of its arguments; NUL separates, as no argument can hold it. */
async function parse(call: string, ...args: readonly string[]): Promise<string[]> {
  const program = `set -euo pipefail; source "$1"; shift; list=(); ${call}; for word in "\${list[@]}"; do printf '%s\\0' "$word"; done`;
  const { stdout } = await runCommand(['bash', '-c', program, 'test', source, ...args]);
  return stdout.split('\0').slice(0, -1);
}

const words = (text: string) => parse('words list "$1"', text);

test('words are split as a shell would, and nothing is expanded', async () => {
  for (const [text, expected] of [
    ['-Z  -b\t--conf-server a:1', ['-Z', '-b', '--conf-server', 'a:1']],
    [`--conf 'Feature=a b' "x y"z`, ['--conf', 'Feature=a b', 'x yz']],
    [String.raw`one\ word \"quoted\"`, ['one word', '"quoted"']],
    ['$(touch /tmp/x) `id` $HOME ${IFS} * ~ ; && | > <(x)', ['$(touch', '/tmp/x)', '`id`', '$HOME', '${IFS}', '*', '~', ';', '&&', '|', '>', '<(x)']], // biome-ignore format: a row
    [`a '' b`, ['a', '', 'b']],
    [' ', []],
  ] as const)
    assert.deepEqual(await words(text), [...expected], text);
  assert.deepEqual(await words('-x'), ['-x']);
});

test('any words come back, however they are quoted', async () => {
  const word = fc.string({ unit: 'binary-ascii', minLength: 1 }).filter((text) => !/[\0\n']/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 5 }), async (expected) => {
      assert.deepEqual(await words(expected.map((text) => `'${text}'`).join(' ')), expected);
    }),
    { numRuns: 40 },
  );
});

test('a quote without its partner is refused with a sentence', async () => {
  await assert.rejects(
    words(`--conf 'Feature=a`),
    /exit code 64[^]*cannot read the options: --conf 'Feature=a/,
  );
});

test('an argument without quotes is one argument; one with quotes loses them', async () => {
  const args = ['--conf', 'CPUs=4 Feature=a b', `--conf='Feature=a b'`, '$(id)', ''];
  assert.deepEqual(await parse('arguments list "$@"', ...args), [
    '--conf',
    'CPUs=4 Feature=a b',
    '--conf=Feature=a b',
    '$(id)',
    '',
  ]);
});
