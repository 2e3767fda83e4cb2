/** Our hostlists against `scontrol show hostnames` and `show hostlistsorted` of both releases, on thousands of cases. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type MiniSlurm, startMiniSlurm } from '../../testing/mini-slurm.ts';
import type { SlurmRelease } from '../../testing/slurm-rootfs.ts';
import { compressHostlist, expandHostlist } from './hostlist.ts';

const range = fc
  .tuple(fc.nat({ max: 1200 }), fc.nat({ max: 12 }), fc.integer({ min: 0, max: 5 }), fc.boolean())
  .map(([first, length, width, single]) => {
    const pad = (value: number) => String(value).padStart(width, '0');
    return single ? pad(first) : `${pad(first)}-${pad(first + length)}`;
  });
const bracket = fc.array(range, { minLength: 1, maxLength: 3 }).map((ranges) => `[${ranges.join(',')}]`);
const word = fc.stringMatching(/^[a-z][a-z-]{0,4}$/);
const pattern = fc.oneof(
  { weight: 1, arbitrary: word },
  { weight: 4, arbitrary: fc.tuple(word, bracket).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.tuple(word, bracket, word).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.tuple(word, bracket, word, bracket).map((parts) => parts.join('')) },
);
const hostlist = fc.array(pattern, { minLength: 1, maxLength: 3 }).map((patterns) => patterns.join(','));

const hostName = fc
  .tuple(fc.constantFrom('n', 'gpu-', 'r1n', 'x'), fc.nat({ max: 130 }), fc.integer({ min: 0, max: 4 }))
  .map(([prefix, number, width]) => prefix + String(number).padStart(width, '0'));
const names = fc.array(hostName, { minLength: 1, maxLength: 25 });

for (const release of ['26.05', '24.11'] satisfies SlurmRelease[]) {
  describe(`hostlists and scontrol of Slurm ${release}`, () => {
    let mini: MiniSlurm | undefined;
    before(async () => {
      mini = await startMiniSlurm({ version: release, nodes: 0 });
    });
    after(() => mini?.stop());

    /** One scontrol for many questions: it reads commands, and repeats each (or the end of it) before its answer. */
    async function scontrol(what: string, questions: readonly string[]): Promise<string[]> {
      const answers: string[][] = [];
      for (let at = 0; at < questions.length; at += 500) {
        const input = questions.slice(at, at + 500).map((question) => `show ${what} ${question}\n`);
        const result = await mini?.controller.exec(['scontrol'], { user: 'slurm', input: input.join('') });
        for (const line of (result?.stdout ?? '').split('\n')) {
          if (line.startsWith('scontrol: ')) answers.push([]);
          else if (line !== '') answers.at(-1)?.push(line);
        }
        answers.pop(); // the last prompt had no question
      }
      assert.equal(answers.length, questions.length, 'an answer for each question');
      return answers.map((lines) => lines.join(' '));
    }

    test('3,000 lists are expanded to the same names in the same order', async () => {
      const lists = fc.sample(hostlist, 3000);
      const answers = await scontrol('hostnames', lists);
      for (const [index, list] of lists.entries())
        assert.equal(expandHostlist(list).join(' '), answers[index], list);
    });

    test('3,000 sets of names: what we write Slurm reads, what Slurm writes we read', async () => {
      const sets = fc.sample(names, 3000);
      const ours = sets.map((set) => compressHostlist(set));
      const read = await scontrol('hostnames', ours);
      const written = await scontrol(
        'hostlistsorted',
        sets.map((set) => [...new Set(set)].join(',')),
      );
      for (const [index, set] of sets.entries()) {
        const wanted = [...new Set(set)].toSorted();
        assert.deepEqual(read[index]?.split(' ').toSorted(), wanted, ours[index]);
        assert.deepEqual(expandHostlist(written[index] ?? '').toSorted(), wanted, written[index]);
      }
    });

    test('the same lists are refused', async () => {
      const broken = ['n[1-2', 'n[2-1]', 'n[a]', 'n[]', 'n[1-3,]'];
      for (const [index, answer] of (await scontrol('hostnames', broken)).entries()) {
        assert.equal(answer, '', broken[index]);
        assert.throws(() => expandHostlist(broken[index] ?? ''), /not a hostlist/);
      }
      const [step] = await scontrol('hostnames', ['n[0-6/2]']);
      assert.equal(step, '', 'steps are ours alone: they are expanded, never sent');
    });

    test('100,000 hosts', async () => {
      const many = Array.from({ length: 100_000 }, (_, index) => `n${index}`);
      const [answer] = await scontrol('hostnames', [compressHostlist(many)]);
      assert.equal(answer?.split(' ').length, 100_000);
      assert.deepEqual(answer.split(' '), many);
    });
  });
}
