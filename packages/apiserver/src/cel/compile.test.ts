import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Schema } from '../schema/schema.ts';
import { compile } from './compile.ts';
import { CelCompileError, CelRuntimeError } from './errors.ts';
import { schemaType, toCel } from './schema-types.ts';
import type { CelType } from './types.ts';
import type { CelValue } from './values.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    a: { type: 'string' },
    n: { type: 'integer' },
    f: { type: 'number' },
    absent: { type: 'string' },
    'with-dash': { type: 'string' },
    port: { 'x-kubernetes-int-or-string': true },
    when: { type: 'string', format: 'date-time' },
    list: { type: 'array', items: { type: 'object', properties: { k: { type: 'string' } } } },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const value = {
  a: 'abc',
  n: 3,
  f: 2,
  'with-dash': 'd',
  port: '80%',
  when: '2026-01-02T03:04:05Z',
  list: [{ k: 'x' }, { k: 'y' }],
  set: ['p', 'q'],
  labels: { 'app.kubernetes.io/name': 'w' },
};
const scope = new Map<string, CelType>([['self', schemaType(schema, false) as CelType]]);
const frame = new Map<string, CelValue>([['self', toCel(value, schema) as CelValue]]);

function run(source: string): CelValue {
  return compile(source, scope).run(frame);
}

const truths = [
  "self.a == 'abc' && self.n == 3",
  'self.n / 2 == 1 && self.n % 2 == 1 && -7 / 2 == -3',
  'self.f == 2.0 && self.f < 3',
  "!has(self.absent) && has(self.a) && self.with__dash__dash == 'd'",
  "self.list.all(i, i.k in ['x', 'y']) && self.list.exists_one(i, i.k == 'x')",
  "self.list.map(i, i.k) == ['x', 'y'] && self.list.filter(i, i.k == 'y').size() == 1",
  "self.labels['app.kubernetes.io/name'] == 'w' && 'none' in self.labels == false",
  "self.labels.all(key, self.labels[key] != '')",
  "self.set == ['q', 'p']",
  "type(self.port) == string && (type(self.port) == int ? self.port > 0 : self.port.endsWith('%'))",
  "self.when > timestamp('2026-01-01T00:00:00Z') && self.when.getFullYear() == 2026",
  "duration('1h30m') == duration('90m') && duration('90m').getMinutes() == 90",
  "'abc'.matches('^[a-c]+$') && 'abc'.find('b') == 'b' && 'a1b2'.findAll('[0-9]') == ['1', '2']",
  "self.set.transformList(i, v, i > 0, v) == ['q'] && self.set.transformMap(i, v, v)[1] == 'q'",
  "self.labels.transformMapEntry(k, v, {v: k})['w'] == 'app.kubernetes.io/name'",
  "[3, 1, 2].sort() == [1, 2, 3] && self.list.sortBy(i, i.k).map(i, i.k) == ['x', 'y'] && [1, 1].distinct() == [1]",
  '[[1], [2]].flatten() == [1, 2] && [1, [2, [3]]].flatten(2) == [1, 2, 3] && lists.range(2) == [0, 1]',
  '[1, 2, 3].slice(1, 2) == [2] && [1, 2].reverse() == [2, 1] && [1, 2].first().value() == 1 && ![].last().hasValue()',
  "'a,b,c'.split(',', 2) == ['a', 'b,c'] && ['a', 'b'].join('-') == 'a-b' && ' x '.trim() == 'x'",
  "'hello'.substring(1, 3) == 'el' && 'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3",
  "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('100m').add(quantity('900m')).asInteger() == 1",
  "isQuantity('5Mi') && !isQuantity('5 Mi') && quantity('1.5').compareTo(quantity('1500m')) == 0",
  "url('https://h:8443/p?q=1').getPort() == '8443' && isURL('/only/path') && !isURL('not a url')",
  "isIP('::1') && ip('127.0.0.1').isLoopback() && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
  "isSemver('1.2.3') && semver('1.10.0').isGreaterThan(semver('1.9.0'))",
  "self.?absent.orValue('z') == 'z' && self.?a.hasValue() && optional.none().or(optional.of(1)).value() == 1",
  "'%s has %d'.format([self.a, self.n]) == 'abc has 3'",
  '[1, 2, 3].sum() == 6 && [3, 1].min() == 1 && [1, 2].isSorted() && sets.contains([1, 2], [2])',
  'cel.bind(x, self.n * 2, x + x) == 12',
  "format.dns1123Label().validate('Bad_').hasValue() && !format.dns1123Label().validate('ok').hasValue()",
  "1u + 2u == 3u && 0x10 == 16 && 1e3 == 1000.0 && b'ab'.size() == 2 && r'\\d' == '\\\\d'",
  '(1 / 0 == 1 || true) && !(false && 1 / 0 == 1)',
];

for (const source of truths) test(`holds: ${source}`, () => assert.equal(run(source), true));

const faults: readonly (readonly [string, string])[] = [
  ['self.nope == 1', "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^"],
  [
    'self.n == self.a',
    "ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.n == self.a\n | .......^",
  ],
  [
    "true ? 1 : 'a'",
    "ERROR: <input>:1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'\n | true ? 1 : 'a'\n | .....^",
  ],
  ['other', "ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other\n | ^"],
  [
    'self.a.nope()',
    "ERROR: <input>:1:12: undeclared reference to 'nope' (in container '')\n | self.a.nope()\n | ...........^",
  ],
  [
    'self.n +\n',
    "ERROR: <input>:2:1: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | \n | ^",
  ],
  [
    '(self.n',
    "ERROR: <input>:1:8: Syntax error: mismatched input '<EOF>' expecting ')'\n | (self.n\n | .......^",
  ],
  [
    'self.n )',
    "ERROR: <input>:1:8: Syntax error: extraneous input ')' expecting <EOF>\n | self.n )\n | .......^",
  ],
];

for (const [source, message] of faults)
  test(`refused: ${JSON.stringify(source)}`, () => {
    assert.throws(() => compile(source, scope), { name: 'CelCompileError', message });
  });

test('a missing key, a division by zero and an overflow are errors of the run', () => {
  for (const source of [
    "self.labels['none']",
    '1 / 0',
    '9223372036854775807 + 1',
    'self.absent',
    'self.list[7]',
    '1 / 0 == 1 && true',
    '[0].all(x, 1 / x > 0)',
  ])
    assert.throws(() => run(source), CelRuntimeError);
});

test('any text is compiled or refused with a position, never anything else', () => {
  const words = [
    'self',
    '.',
    'a',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '==',
    '&&',
    '!',
    '-',
    '1',
    "'x'",
    ',',
    '?',
    ':',
    'in',
    'all',
    'has',
    ' ',
  ];
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (source) => {
      try {
        compile(source, scope);
      } catch (error) {
        assert.ok(error instanceof CelCompileError, String(error));
        assert.match(error.message, /^ERROR: <input>:\d+:\d+: /);
      }
    }),
  );
});

test('nesting is bounded', () => {
  for (const long of [
    `self${'.a'.repeat(30_000)}`,
    `1${' + 1'.repeat(20_000)}`,
    `1${' == 1'.repeat(15_000)}`,
    'x'.repeat(200_000),
  ])
    assert.throws(() => compile(long, scope), CelCompileError);
  assert.throws(() => compile(`${'('.repeat(400)}1${')'.repeat(400)}`, scope), CelCompileError);
});

test('a run that loops too long is ended', () => {
  const hundred = `[${Array.from({ length: 100 }, (_, index) => index).join(', ')}]`;
  const nested = `${hundred}.all(a, ${hundred}.all(b, ${hundred}.all(c, ${hundred}.all(d, true))))`;
  assert.throws(() => run(nested), { name: 'CelRuntimeError', message: /actual cost limit exceeded/ });
});
