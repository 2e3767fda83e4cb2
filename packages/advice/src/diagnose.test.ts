import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  before,
  condition,
  context,
  custom,
  flatten,
  hour,
  pod,
  slurmNode,
  withValues,
} from '../testing/index.ts';
import { diagnose } from './diagnose.ts';
import { forbidden, unknown } from './evidence/evidence.ts';
import { family, type Rule, rule, type Severity } from './finding.ts';
import { rules as allRules } from './rules/index.ts';

const lostMachine = {
  machines: [
    {
      metadata: { name: 'machine-2' },
      status: { conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: before(hour) }] },
    },
  ],
  slurmNodes: [
    slurmNode('gpu-0'),
    slurmNode('gpu-1', { state: 'DOWN+NOT_RESPONDING', reason: 'Not responding' }),
  ],
};

test('folds what follows from a lost node under the lost node', () => {
  const { findings } = diagnose(withValues(lostMachine), context);
  assert.deepEqual(
    findings.map(({ rule: id, consequences }) => [id, consequences.map((each) => each.rule)]),
    [['D11', ['E6']]],
  );
});

test('folds the state of every worker under a Slurm that does not respond', () => {
  const { findings } = diagnose(
    withValues({
      clusters: [
        custom('Cluster', 'slurm', {
          conditions: [condition('SlurmConnected', 'False', 'ConnectionRefused')],
        }),
      ],
      nodeSets: [custom('NodeSet', 'gpu', { conditions: [condition('Ready', 'False', 'SlurmUnknown')] })],
      pods: [pod('slurm-restapi-0', { component: 'restapi', ready: false })],
    }),
    context,
  );
  assert.equal(findings[0]?.rule, 'B16', 'the pod is the cause');
  assert.deepEqual(findings[0]?.consequences.map((each) => each.rule).toSorted(), ['B1', 'G12', 'G3']);
});

test('what is wrong with one NodeSet is not blamed on another object', () => {
  const notReady = (name: string, message: string) =>
    custom('NodeSet', name, { conditions: [condition('Ready', 'False', 'PodsUnschedulable', message)] });
  const { findings } = diagnose(
    withValues({
      controllers: [
        custom('Controller', 'slurm', {
          conditions: [
            condition('Ready', 'True', 'Ready'),
            condition('ConfigApplied', 'False', 'ConfigRejected', 'slurmctld rejects it'),
          ],
        }),
      ],
      nodeSets: [notReady('gpu', '0 of 1 workers are available.'), notReady('far', '0 of 1.')],
      pods: [pod('gpu-0', { unschedulable: '0/2 nodes are available: no match.' })],
    }),
    context,
  );
  assert.deepEqual(
    findings.map(({ rule: id, consequences }) => [id, consequences.map(({ subject }) => subject.name)]),
    [
      ['B7', []],
      ['D1', ['gpu']],
      ['G12', []],
    ],
  );
});

test('an object that Kubernetes refuses is one error, not an error and a warning', () => {
  const message = 'workers: cannot create Pod gpu-0: volumeMounts[2].name: Not found: "people" (422)';
  const conditions = [
    condition('Ready', 'False', 'ApplyFailed', message),
    condition('Degraded', 'True', 'ApplyFailed', message),
  ];
  const { findings } = diagnose(
    withValues({ nodeSets: [custom('NodeSet', 'gpu', { conditions })] }),
    context,
  );
  assert.deepEqual(
    findings.map(({ rule: id, severity, consequences }) => [
      id,
      severity,
      consequences.map((each) => each.rule),
    ]),
    [['D19', 'error', ['G12']]],
  );
});

test('says which evidence is missing and why, and which rules it cost', () => {
  const evidence = {
    ...withValues(),
    logs: forbidden<never>('get', 'pods/log'),
    jobs: unknown<never>('slurmrestd does not respond'),
  };
  const { unchecked, findings } = diagnose(evidence, context);
  assert.deepEqual(findings, []);
  assert.deepEqual(
    unchecked
      .map(({ evidence: name, why }) => [name, why])
      .toSorted(([a = ''], [b = '']) => a.localeCompare(b)),
    [
      ['jobs', 'slurmrestd does not respond'],
      ['logs', 'you may not get pods/log'],
    ],
  );
  assert.ok(unchecked.every(({ rules }) => rules.length > 3));
});

test('evidence that was not asked for is no gap', () => {
  const { unchecked, checked } = diagnose({ pods: withValues().pods }, context);
  assert.deepEqual(unchecked, []);
  assert.ok(checked > 3);
});

test('no finding is lost, whatever the rules say about causes, even in circles', () => {
  const drafts = fc.array(
    fc.record({
      id: fc.integer({ min: 0, max: 7 }),
      subject: fc.constantFrom('a', 'b', 'c'),
      after: fc.array(
        fc.record({
          rule: fc.integer({ min: 0, max: 7 }),
          subject: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
        }),
      ),
      severity: fc.constantFrom<Severity>('error', 'warning', 'info'),
    }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(drafts, (given) => {
      const rules: Rule[] = [...Map.groupBy(given, ({ id }) => id)].flatMap(([id, mine]) =>
        family('workers', [
          rule({
            id: `R${id}`,
            title: '',
            needs: [],
            find: () =>
              mine.map(({ subject, after, severity }) => ({
                severity,
                subject: { kind: 'X', name: subject },
                says: 'x',
                after: after.map((one) => ({
                  rule: `R${one.rule}`,
                  ...(one.subject === undefined ? {} : { subject: one.subject }),
                })),
              })),
          }),
        ]),
      );
      const { findings } = diagnose({}, context, rules);
      assert.equal(flatten(findings).length, given.length);
      // The worst severity of a group is that of its cause, so that an error never hides below a note.
      const rank = { error: 0, warning: 1, info: 2 };
      for (const { severity, consequences } of findings)
        for (const each of consequences) assert.ok(rank[severity] <= rank[each.severity]);
    }),
  );
});

test('a rule that fails on an object that it did not expect costs the others nothing', () => {
  const broken: Rule = {
    id: 'Z1',
    family: 'jobs',
    title: '',
    severity: 'error',
    needs: ['pods'],
    find: () => {
      throw new TypeError('x is not iterable\u001b[2J');
    },
  };
  const { failed, checked, findings } = diagnose(withValues(lostMachine), context, [
    broken,
    ...allRules.filter(({ id }) => id === 'D11'),
  ]);
  assert.deepEqual(failed, [{ rule: 'Z1', why: String.raw`x is not iterable\x1b[2J` }]);
  assert.deepEqual([checked, findings.length], [1, 1]);
});
