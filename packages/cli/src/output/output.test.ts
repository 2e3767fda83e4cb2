import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asJson, asYaml } from './print.ts';
import { clip, painter, wantsColours, width, wrap } from './style.ts';
import { table } from './table.ts';

const plain = painter(false);
const coloured = painter(true);

test('colours follow --no-color, NO_COLOR, FORCE_COLOR and the terminal', () => {
  assert.equal(wantsColours({}, true, false), true);
  assert.equal(wantsColours({}, false, false), false);
  assert.equal(wantsColours({ NO_COLOR: '1' }, true, false), false);
  assert.equal(wantsColours({ FORCE_COLOR: '1' }, false, false), true);
  assert.equal(wantsColours({ FORCE_COLOR: '1' }, true, true), false);
  assert.equal(wantsColours({ TERM: 'dumb' }, true, false), false);
});

test('columns align whatever the colours, and the last is not padded', () => {
  const rows = [
    { name: 'a', state: 'good' },
    { name: 'longer', state: 'x' },
  ];
  const columns = [
    { name: 'NAME', value: (row: (typeof rows)[0]) => row.name },
    { name: 'N', value: () => '5', right: true },
    { name: 'STATE', value: (row: (typeof rows)[0]) => row.state, tone: () => 'bad' as const },
    { name: 'MORE', value: () => 'm', wide: true },
  ];
  const text = table(rows, columns, { paint: plain });
  assert.equal(text, 'NAME     N   STATE\na        5   good\nlonger   5   x\n');
  const lines = table(rows, columns, { paint: coloured }).split('\n');
  assert.deepEqual(lines.map(width), text.split('\n').map(width));
  assert.match(table(rows, columns, { paint: plain, wide: true }), /MORE/);
  assert.doesNotMatch(table(rows, columns, { paint: plain, headers: false }), /NAME/);
});

test('cuts at the end of the screen, and never inside an escape code', () => {
  assert.equal(clip('abcdef', 4), 'abc…');
  const cut = clip(coloured('bad', 'abcdef'), 4);
  assert.equal(width(cut), 4);
  assert.ok(cut.endsWith('\u001b[39m'), JSON.stringify(cut));
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three']);
});

test('JSON and YAML carry a version and a kind', () => {
  assert.deepEqual(JSON.parse(asJson('X', { items: new Set(['a']) })), {
    apiVersion: 'cli.slinky.slurm.net/v1',
    kind: 'X',
    items: ['a'],
  });
  assert.match(asYaml('X', { a: 'yes' }), /kind: X\na: "yes"/);
});
