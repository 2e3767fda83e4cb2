import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { type Sample, SampledMetric } from './sampled-metric.ts';

test('shows the series of the moment, with escaped labels, and forgets those of the scrape before', async () => {
  const registry = new Registry();
  let samples: Sample[] = [
    { labels: { node: 'n0', reason: 'a "b"\nc\\' }, value: 1 },
    { labels: { node: 'n1', reason: '' }, value: 2.5 },
  ];
  SampledMetric.register(registry, {
    name: 'things',
    help: 'Things',
    type: 'gauge',
    labelNames: ['node', 'reason'],
    sample: () => samples,
  });
  assert.equal(
    await registry.metrics(),
    '# HELP things Things\n# TYPE things gauge\nthings{node="n0",reason="a \\"b\\"\\nc\\\\"} 1\nthings{node="n1",reason=""} 2.5\n',
  );
  samples = [];
  assert.equal(await registry.metrics(), '# HELP things Things\n# TYPE things gauge\n');
  assert.deepEqual((registry.getSingleMetric('things') as unknown as { labelNames: string[] }).labelNames, [
    'node',
    'reason',
  ]);
});
