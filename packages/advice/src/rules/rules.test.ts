/** Every rule is made to happen, and a healthy cluster has no findings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controlPlaneCases } from '../../testdata/control-plane-cases.ts';
import { jobCases } from '../../testdata/job-cases.ts';
import { nodeCases } from '../../testdata/node-cases.ts';
import type { RuleCase } from '../../testdata/rule-case.ts';
import { workerCases } from '../../testdata/worker-cases.ts';
import { context, flatten, healthy, withValues } from '../../testing/index.ts';
import { diagnose } from '../diagnose.ts';
import { rules } from './index.ts';

const cases: readonly RuleCase[] = [...controlPlaneCases, ...workerCases, ...nodeCases, ...jobCases];

test('a healthy cluster has no findings, and every rule looked', () => {
  const { findings, unchecked, checked } = diagnose(healthy(), context);
  assert.deepEqual(findings, []);
  assert.deepEqual(unchecked, []);
  assert.equal(checked, rules.length);
});

for (const { rule, reason, values, says, because, fix, job } of cases)
  test(`${rule}: ${reason}`, () => {
    const { findings } = diagnose(withValues(values), { ...context, ...(job === undefined ? {} : { job }) });
    const all = flatten(findings);
    const found = all.find((each) => each.rule === rule);
    assert.ok(found, `not among ${all.map((each) => `${each.rule}: ${each.says}`).join('\n')}`);
    assert.match(found.says, says);
    if (because !== undefined) assert.match(found.because.join('\n'), because);
    if (fix !== undefined) assert.match(found.fix.join('\n'), fix);
    assert.ok(found.fix.length > 0, 'says what to do');
    for (const text of [found.says, ...found.because, ...found.fix])
      assert.doesNotMatch(text, /undefined|NaN|\[object|Infinity|\n/, text);
  });

test('every rule has a case, and every id is used once', () => {
  const tested = new Set(cases.map(({ rule }) => rule));
  assert.deepEqual(
    rules.map(({ id }) => id).filter((id) => !tested.has(id)),
    [],
  );
  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length);
  assert.ok(rules.length >= 60, `${rules.length} rules`);
});

for (const { rule, needs } of rules.map(({ id, needs: names }) => ({ rule: id, needs: names })))
  test(`${rule} finds nothing where its evidence is unknown`, () => {
    const cases_ = cases.filter((each) => each.rule === rule);
    for (const { values, job } of cases_)
      for (const name of needs) {
        const evidence = { ...withValues(values), [name]: { kind: 'unknown', why: 'a test' } };
        const { findings, unchecked } = diagnose(evidence, {
          ...context,
          ...(job === undefined ? {} : { job }),
        });
        assert.equal(
          flatten(findings).some((each) => each.rule === rule),
          false,
        );
        assert.ok(unchecked.some((each) => each.evidence === name && each.rules.includes(rule)));
      }
  });

// oxlint-disable-next-line no-control-regex -- they are what must not be there
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/;

/** Every text that a person may choose, with a terminal escape at its end; what rules compare (states, reasons of conditions) stays. */
function hostile(value: unknown, key = ''): unknown {
  const free = /^(name|user|account|reason|reasonSetBy|message|comment|adminComment|stateDescription|note)$/;
  if (typeof value === 'string') return free.test(key) ? `${value}\u001b]0;x\u0007\n` : value;
  if (value instanceof Map)
    return new Map([...value].map(([name, text]) => [name, hostile(text, 'message')] as const));
  if (value instanceof Set) return value;
  if (Array.isArray(value)) return value.map((each) => hostile(each, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hostile(each, name)]));
}

test('no escape sequence of a name, reason or log line reaches a finding', () => {
  let found = 0;
  for (const { values, job } of cases) {
    const { findings, unchecked } = diagnose(withValues(hostile(values) as typeof values), {
      ...context,
      ...(job === undefined ? {} : { job }),
    });
    found += flatten(findings).length;
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    for (const text of strings({ findings, unchecked })) assert.doesNotMatch(text, controlCharacters, text);
  }
  assert.ok(found > cases.length / 2, `${found} findings`);
});

const strings = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(strings)
      : [];
