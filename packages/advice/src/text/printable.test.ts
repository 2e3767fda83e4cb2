import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printable, printableLines } from './printable.ts';
import { shellWord } from './text.ts';

test('control characters are written out, and text stays on one line', () => {
  for (const [given, shown] of [
    ['plain ä 漢 🙂', 'plain ä 漢 🙂'],
    ['\u001b[2Jclear', String.raw`\x1b[2Jclear`],
    ['\u001b]0;title\u0007', String.raw`\x1b]0;title\x07`],
    ['\u009b31m', String.raw`\x9b31m`],
    ['a\r\nb\tc', 'a  b c'],
    ['\u202etxt.sh', String.raw`\u202etxt.sh`],
    ['\u0000\u007f\u2028', String.raw`\x00\x7f\u2028`],
  ] as const)
    assert.equal(printable(given), shown);
  assert.equal(printableLines('a\n\tb\r\u001bc'), 'a\n\tb\\x0d\\x1bc');
});

test('a name of others stays one word of a command', () => {
  assert.equal(shellWord('gpu-[0-3]'), 'gpu-[0-3]');
  assert.equal(shellWord('a;reboot'), "'a;reboot'");
  assert.equal(shellWord("it's $(x)"), String.raw`'it'\''s $(x)'`);
});
