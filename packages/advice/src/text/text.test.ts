import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  count,
  hosts,
  lastError,
  listed,
  moment,
  printable,
  printableLines,
  quote,
  shellWord,
  span,
} from './text.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const utc = { now, timeZone: 'UTC' };

test('writes spans in at most two units', () => {
  for (const [ms, text] of [
    [0, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [3_900_000, '1 h 5 min'],
    [97 * 3_600_000, '4 d 1 h'],
    [-5, '0 s'],
  ] as const)
    assert.equal(span(ms), text);
});

test('writes times as short as they are clear, in the zone of the reader', () => {
  assert.equal(moment(now + 3_600_000, utc), '13:00');
  assert.equal(moment(now + 24 * 3_600_000, utc), 'Thu 12:00');
  assert.equal(moment(now + 20 * 24 * 3_600_000, utc), '2026-12-08 12:00');
  assert.equal(moment(now, { now, timeZone: 'Asia/Tokyo' }), '21:00');
});

test('writes names as hostlists and lists with an end', () => {
  assert.equal(hosts(['gpu-1', 'gpu-2', 'gpu-3']), 'gpu-[1-3]');
  assert.equal(hosts(['a b', 'c']), 'a b, c', 'no hostlist, and no error either');
  assert.equal(listed(['a', 'b']), 'a and b');
  assert.equal(listed(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more');
  assert.equal(listed(['a', 'b', 'c']), 'a, b and c');
  assert.equal(listed([]), '');
  assert.equal(count(1, 'job'), '1 job');
  assert.equal(count(12_345, 'job'), '12,345 jobs');
});

test('quotes one line, and the last error of a log', () => {
  assert.equal(quote('a\n  b'), 'a b');
  assert.equal(quote('x'.repeat(500)).length, 220);
  assert.equal(lastError('start\nerror: one\nfatal: two\nbye\n'), 'fatal: two');
  assert.equal(lastError(''), '');
});

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
