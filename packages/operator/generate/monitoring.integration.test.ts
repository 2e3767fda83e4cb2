/** The dashboards and the alerts ask only for metrics, and labels, that a running operator really has. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '@slurm-operator/kube/testing';
import { type OperatorWorld, startOperatorWorld } from '../testing/operator-world.ts';
import { alertQueries } from './alerts.ts';
import { dashboardQueries } from './dashboards.ts';

let world: OperatorWorld;
/** Names as Prometheus stores them, with their labels where those are known. */
const metrics = new Map<string, ReadonlySet<string> | undefined>();

before(async () => {
  world = await startOperatorWorld();
  const { manager } = await world.operate({}, { metrics: { port: 0, host: '127.0.0.1' } });
  await until('metrics', () => manager.ports.metrics !== undefined);
  for (const { name, type } of await manager.metrics.registry.getMetricsAsJSON()) {
    const metric = manager.metrics.registry.getSingleMetric(name) as unknown as { labelNames?: string[] };
    const labels = metric.labelNames === undefined ? undefined : new Set(metric.labelNames);
    metrics.set(name, labels);
    if (String(type) === 'histogram') {
      metrics.set(`${name}_bucket`, labels && new Set([...labels, 'le']));
      metrics.set(`${name}_sum`, labels);
      metrics.set(`${name}_count`, labels);
    }
  }
});
after(() => world.stop());

/** Labels that Prometheus adds to whatever it scrapes. */
const added = new Set(['job', 'instance', 'pod']);
const words = new Set([
  'by',
  'without',
  'and',
  'or',
  'unless',
  'on',
  'sum',
  'max',
  'min',
  'rate',
  'increase',
  'changes',
  'histogram_quantile',
  'count',
  'topk',
  'ignoring',
]);

/** What is wrong with a query, as sentences. */
function faults(query: string): string[] {
  const found: string[] = [];
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((one) => one.trim()),
  );
  const bare = query
    .replaceAll(/\bby \([^)]*\)/g, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/"[^"]*"/g, '""');
  const names = new Set<string>();
  for (const [, name = '', , selector = ''] of bare.matchAll(/([a-zA-Z_:][\w:]*)(\{([^}]*)\})?/g)) {
    if (words.has(name)) continue;
    names.add(name);
    const labels = metrics.get(name);
    if (!metrics.has(name)) found.push(`there is no metric ${name}`);
    for (const [label] of selector.matchAll(/[a-zA-Z_]\w*(?=\s*[=!])/g))
      if (labels?.has(label) === false && !added.has(label)) found.push(`${name} has no label ${label}`);
  }
  if (names.size === 0) found.push('it asks for nothing');
  for (const label of grouped)
    if (!added.has(label) && ![...names].some((name) => metrics.get(name)?.has(label) === true))
      found.push(`nothing in it has the label ${label}`);
  return found;
}

for (const [what, queries] of [
  ['dashboards', dashboardQueries()],
  ['alerts', alertQueries()],
] as const)
  test(`the ${what} ask for what there is`, () => {
    assert.ok(queries.length >= 10);
    for (const query of queries) assert.deepEqual(faults(query), [], query);
  });

test('detects a planted wrong name and a planted wrong label', () => {
  assert.deepEqual(faults('sum(slurm_operator_object_redy)'), [
    'there is no metric slurm_operator_object_redy',
  ]);
  assert.deepEqual(faults('slurm_operator_object_ready{sort="x"}'), [
    'slurm_operator_object_ready has no label sort',
  ]);
  assert.deepEqual(faults('sum by (clster) (workqueue_depth)'), ['nothing in it has the label clster']);
});
