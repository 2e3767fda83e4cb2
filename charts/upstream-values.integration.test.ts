/** Values that users of upstream's charts have: what they mean here, and which are refused. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before as beforeAll, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { chart, type Manifest } from './src/index.ts';
import { type Any, ChartStage } from './testing/chart-stage.ts';
import { operatorCases, slurmCases } from './testing/upstream-cases.ts';
import { stepsOf, withValue } from './testing/upstream-leaf.ts';
import { operatorLeaves } from './testing/upstream-operator-leaves.ts';
import { slurmLeaves } from './testing/upstream-slurm-leaves.ts';
import { operatorExamples, refusals, slurmExamples, type ValueExample } from './testing/upstream-values.ts';

let stage: ChartStage;
beforeAll(async () => {
  stage = await ChartStage.open();
});
after(() => stage?.[Symbol.asyncDispose]());

/** Every named part is there; lists are compared element by element, text without blanks at its end. */
function assertPart(actual: Any, part: Any, path: string): void {
  if (Array.isArray(part)) {
    assert.equal(actual?.length, part.length, `${path}: ${JSON.stringify(actual)}`);
    for (const [index, each] of part.entries()) assertPart(actual[index], each, `${path}[${index}]`);
  } else if (typeof part === 'object' && part !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, `${path} is ${JSON.stringify(actual)}`);
    for (const [key, each] of Object.entries(part)) assertPart(actual[key], each, `${path}.${key}`);
  } else if (typeof part === 'string') assert.equal(String(actual).trimEnd(), part.trimEnd(), path);
  else assert.equal(actual, part, path);
}

function check(manifests: readonly Manifest[], { means }: ValueExample): void {
  for (const [what, part] of Object.entries(means)) {
    const [kind, name] = what.split('/');
    const found = manifests.filter(
      (each) => each.kind === kind && (name === undefined || each.metadata.name === name),
    );
    if (part === undefined) assert.equal(found.length, 0, `there is a ${what}`);
    else {
      assert.equal(found.length, 1, `${found.length} objects are ${what}`);
      assertPart(found[0], part, what);
    }
  }
}

for (const example of [...slurmExamples, ...slurmCases])
  test(`slurm: ${example.name}`, async () => {
    const manifests = await stage.slurm(example.values);
    check(manifests, example);
    await stage.accepts(manifests, 'slurm');
  });

for (const example of [...operatorExamples, ...operatorCases])
  test(`slurm-operator: ${example.name}`, async () => {
    const manifests = await stage.operator(example.values);
    check(manifests, example);
    await stage.accepts(
      manifests.filter(({ kind }) => kind !== 'CustomResourceDefinition'),
      'slinky',
    );
  });

for (const { chart: name, values, why, says } of refusals)
  test(`${name} refuses ${JSON.stringify(values)}: ${why}`, async () => {
    assert.match(await stage.helm.refusal('slurm', chart(name), values), says);
  });

for (const { kind, plural, values, spec } of [
  {
    kind: 'Accounting',
    plural: 'accountings',
    values: { accounting: { enabled: true, external: true, externalConfig: { host: 'dbd', port: 6819 } } },
    spec: { external: true, externalConfig: { host: 'dbd', port: 6819 } },
  },
  {
    kind: 'Controller',
    plural: 'controllers',
    values: {
      clusterName: 'hpc',
      controller: { external: true, externalConfig: { host: 'head', port: 6817 } },
    },
    spec: {
      external: true,
      externalConfig: { host: 'head', port: 6817 },
      slurmKeyRef: { name: 'slurm-auth-slurm', key: 'slurm.key' },
      jwtKeyRef: { name: 'slurm-auth-jwt', key: 'jwt.key' },
    },
  },
])
  test(`an external ${kind} as upstream's chart wrote it becomes ours, and upstream's again`, async () => {
    const resource = { apiVersion: 'slinky.slurm.net/v1beta1', kind, plural, namespaced: true };
    const metadata = { name: 'slurm', namespace: 'slurm' };
    const theirs = { apiVersion: resource.apiVersion, kind, metadata, spec } as Any;
    const ours = (await stage.slurm(values)).find((manifest) => manifest.kind === kind) as Any;
    const first = await stage.client.create(resource, theirs);
    const { resourceVersion } = first.metadata;
    const second = await stage.client.replace(resource, {
      ...ours,
      metadata: { ...ours.metadata, resourceVersion },
    });
    assert.notDeepEqual(second.spec, (first as Any).spec, 'the charts write different fields');
    await stage.client.replace(resource, {
      ...theirs,
      metadata: { ...metadata, resourceVersion: second.metadata.resourceVersion },
    });
    await stage.client.delete(resource, metadata);
  });

for (const name of ['slurm', 'slurm-operator'] as const) {
  const render = (values: object) => (name === 'slurm' ? stage.slurm(values) : stage.operator(values));
  const leaves = name === 'slurm' ? slurmLeaves : operatorLeaves;
  const together = leaves
    .filter((leaf) => leaf.with === undefined)
    .reduce<Any>((values, { path, value }) => withValue(values, path, value), {});

  test(`${name}: every value of upstream has a row that sets it`, () => {
    const upstream = readFileSync(new URL(`testdata/upstream/${name}.json`, import.meta.url), 'utf8');
    const missing = Object.keys(JSON.parse(upstream) as object).filter(
      (value) =>
        !leaves.some(({ path }) => `${value}.`.startsWith(`${path}.`) || path.startsWith(`${value}.`)),
    );
    assert.deepEqual(missing, []);
  });

  test(`${name}: every value of upstream reaches the field that it means`, async () => {
    const rendered = await render(together);
    const wrong: string[] = [];
    for (const leaf of leaves) {
      const { path, value, means, is = value } = leaf;
      if (means === undefined) continue;
      const manifests = leaf.with === undefined ? rendered : await render(withValue(leaf.with, path, value));
      const [what = '', field] = means.split(' ');
      const [kind, called] = what.split('/');
      const found = manifests.find(
        (each) => each.kind === kind && (called === undefined || each.metadata.name === called),
      ) as Any;
      const actual =
        field === undefined ? (found ?? null) : stepsOf(field).reduce<Any>((at, step) => at?.[step], found);
      const holds =
        is instanceof RegExp
          ? is.test(typeof actual === 'string' ? actual : (JSON.stringify(actual) ?? ''))
          : isDeepStrictEqual(actual, is);
      if (!holds) wrong.push(`${path}: ${means} is ${JSON.stringify(actual)}, not ${String(is)}`);
    }
    assert.deepEqual(wrong, []);
  });
}
