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
