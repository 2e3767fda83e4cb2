/** The parser of the injection tests reads configuration as real slurmctld does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slurmVersions } from '@slurm-operator/images';
import fc from 'fast-check';
import { lineTricks } from '../../testing/hostile-text.ts';
import { RealSlurmctld } from '../../testing/real-slurmctld.ts';
import { readSlurmConf } from '../../testing/slurm-conf-reader.ts';
import { parseSlurmConf, settingsOf } from './parse.ts';

/** Settings that take any text, mean nothing to a slurmctld without nodes, and are shown as they were read. */
const shown = ['MailDomain', 'TaskProlog', 'TaskEpilog', 'SrunProlog', 'SrunEpilog', 'UnkillableStepProgram'];
const words = {
  settings: new Set(shown.map((key) => key.toLowerCase())),
  records: new Set(['partitionname']),
};

/** The same tricks as in the injection tests, with keys whose effect can be seen. */
const tricks = [
  ...lineTricks,
  '""',
  "'",
  ' ',
  '\t',
  '\v',
  '\f',
  '=',
  '\u0085',
  '\u00A0',
  '\u2028',
  'é',
  '%',
  ';',
  ',',
  'a',
  'Z',
  '0',
  '/x',
  'TaskProlog',
  'TaskProlog=/evil',
  'srunprolog = /evil',
  'MAILDOMAIN="a b"',
  'NoSuchKey=1',
  '\nTaskEpilog=/y',
  'SrunEpilog+=/z',
  '# TaskProlog=/no',
];
const sample = (numRuns: number, seed: number): string[] =>
  fc.sample(
    fc.array(fc.constantFrom(...tricks), { minLength: 1, maxLength: 6 }).map((all) => all.join('')),
    { numRuns, seed },
  );

for (const version of slurmVersions)
  test(`Slurm ${version} reads 220 hostile lines as the parser of the injection tests does`, async () => {
    await using slurmctld = await RealSlurmctld.start(version);
    const seen = { taken: 0, refused: 0 };
    for (const [index, text] of sample(220, 20_261_115).entries()) {
      const line = `${shown[index % shown.length]}=${text}`;
      const expectedReading = readSlurmConf(line, words);
      const answer = await slurmctld.ask(line);
      const where = `${JSON.stringify(line)}: ${JSON.stringify(answer.kind === 'refused' ? answer.words : expectedReading)}`;
      assert.equal(answer.kind, expectedReading.kind, where);
      seen[expectedReading.kind] += 1;
      if (expectedReading.kind === 'refused' || answer.kind === 'refused') continue;
      const expected = new Map<string, string>();
      for (const { key, value } of expectedReading.statements) expected.set(key, value);
      for (const key of shown) {
        const value = expected.get(key.toLowerCase());
        if (value === undefined || value.includes('\n')) continue;
        assert.equal(answer.config.get(key.toLowerCase()), value, `${key} of ${where}`);
      }
      // And so does the parser with which the operator reads a user's lines.
      const ours = parseSlurmConf(line).flatMap(({ pairs }) => settingsOf(pairs));
      assert.deepEqual(
        ours.map(({ key, value }) => [key.toLowerCase(), value]),
        expectedReading.statements.map(({ key, value }) => [key, value]),
        where,
      );
    }
    assert.ok(seen.taken > 40 && seen.refused > 40, `too one-sided: ${JSON.stringify(seen)}`);
  });
