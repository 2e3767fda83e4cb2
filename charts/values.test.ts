/** The values: what the files say, what the schemas allow, and what other charts of this kind taught people to write. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Schema } from './generate/schema.ts';
import { type ChartName, chart } from './src/chart.ts';

const names = ['slurm-operator-crds', 'slurm-operator', 'slurm'] as const;
const values = (name: ChartName) => parse(readFileSync(`${chart(name)}/values.yaml`, 'utf8')) as object;
const schema = (name: ChartName) =>
  JSON.parse(readFileSync(`${chart(name)}/values.schema.json`, 'utf8')) as Schema;

/** The schema at a path, through maps too; undefined where no value may be. */
function at(root: Schema, path: readonly string[]): Schema | undefined {
  let here: Schema | undefined = root;
  for (const step of path) {
    const rest: Schema | boolean | undefined = here?.additionalProperties;
    here = here?.properties?.[step] ?? (typeof rest === 'object' ? rest : rest === false ? undefined : {});
  }
  return here;
}

function* leaves(value: unknown, path: readonly string[] = []): Generator<readonly [string[], unknown]> {
  const entries =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  if (entries.length === 0) yield [[...path], value];
  for (const [key, below] of entries) yield* leaves(below, [...path, key]);
}

/** Where our defaults differ from those that people know, and why. */
const different: Record<string, Record<string, string>> = {
  'slurm-operator': {
    'operator.imagePullPolicy': 'null: the chart’s own policy',
    'webhook.imagePullPolicy': 'null: the chart’s own policy',
    'certManager.enabled': 'the webhook makes its own certificate',
    'certManager.secretName': 'empty: the same name, made of the one of the release',
    'webhook.timeoutSeconds': 'an edit waits for a silent webhook for 2 s at most',
    'webhook.validating.failurePolicy':
      'the controllers apply the same rules: an edit never depends on the webhook',
    'operator.replicas': 'the operator survives the loss of a node',
    'webhook.replicas': 'the webhook survives the loss of a node',
    'operator.pdb.enabled': 'a drain takes one replica at a time',
    'webhook.pdb.enabled': 'a drain takes one replica at a time',
    'operator.resources': 'requests, so that the pods are not the first to be evicted',
    'webhook.resources': 'requests, so that the pods are not the first to be evicted',
  },
  slurm: {},
};

for (const name of names)
  test(`${name}: every default is allowed by the schema, and every field of the schema is documented`, () => {
    const [ours, allowed] = [values(name), schema(name)];
    for (const [path] of leaves(ours))
      assert.ok(at(allowed, path) !== undefined, `${path.join('.')} is not in values.schema.json`);
    const undocumented = [...fields(allowed)].filter(
      (path) => !path.includes('global') && readAt(ours, path) === undefined,
    );
    assert.deepEqual(
      undocumented.map((path) => path.join('.')).filter((path) => !optional.test(path)),
      [],
    );
  });

/** Not in values.yaml: old spellings, fields of an object that is off unless it is given, and pieces of Kubernetes' objects that are named for their types only. */
const optional =
  /^(slurmKeyRef|jwtHs256KeyRef|priorityClassName|enabled|slurm-operator-crds)\b|useResourceLimits|taintKubeNodes|sssdConf|(podSpec|persistence|storageConfig|strategy|updateStrategy|persistentVolumeClaimRetentionPolicy|autoscale|serviceMonitor|service|metadata|secretRef|configMapRef|image|resources)\.|\.(volumeMounts|securityContext|args|env|volumes)$/;

function* fields(here: Schema, path: readonly string[] = []): Generator<string[]> {
  for (const [name, field] of Object.entries(here.properties ?? {})) {
    yield [...path, name];
    yield* fields(field, [...path, name]);
  }
}

const readAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((here, step) => (here as Record<string, unknown> | null | undefined)?.[step], value);

for (const name of ['slurm-operator', 'slurm'] as const)
  test(`${name}: every value that upstream has is known here, with the same default but for those listed`, () => {
    const upstream = JSON.parse(
      readFileSync(new URL(`testdata/upstream/${name}.json`, import.meta.url), 'utf8'),
    ) as Record<string, unknown>;
    const [ours, allowed] = [values(name), schema(name)];
    const changed: string[] = [];
    for (const [path, standard] of Object.entries(upstream)) {
      // A key of a map may hold dots of its own.
      const steps = path
        .replace('kubernetes.io/os', '\0')
        .split('.')
        .map((step) => step.replace('\0', 'kubernetes.io/os'));
      assert.ok(at(allowed, steps) !== undefined, `${path} is not allowed`);
      if (standard === '*') continue;
      const mine = readAt(ours, steps) ?? null;
      if (JSON.stringify(mine) !== JSON.stringify(standard ?? null)) changed.push(path);
    }
    assert.deepEqual(changed.toSorted(), Object.keys(different[name] ?? {}).toSorted());
  });

test('no template draws at random, reads the clock, or names a registry', () => {
  for (const file of globSync(`${chart('slurm')}/../*/templates/*`)) {
    const text = readFileSync(file, 'utf8');
    assert.doesNotMatch(
      text,
      /\b(rand(AlphaNum|Alpha|Numeric|Ascii|Bytes|Int)|gen(CA|SelfSigned|Signed|PrivateKey)\w*|uuidv4|now|htpasswd|derivePassword)\b\s*[)}("0-9]/,
      file,
    );
    assert.doesNotMatch(text, /\b(ghcr|docker|quay|gcr)\.io\b/, file);
  }
  for (const name of names)
    assert.doesNotMatch(readFileSync(`${chart(name)}/values.yaml`, 'utf8'), /\b(ghcr|docker|quay|gcr)\.io\b/);
});

test('the charts have one version', () => {
  const versions = names.map(
    (name) => (parse(readFileSync(`${chart(name)}/Chart.yaml`, 'utf8')) as { version: string }).version,
  );
  assert.equal(new Set(versions).size, 1);
});

test('the chart names the oldest release of Slurm that it works with', () => {
  const { annotations } = parse(readFileSync(`${chart('slurm')}/Chart.yaml`, 'utf8')) as {
    annotations?: Record<string, string>;
  };
  assert.match(annotations?.['slinky.slurm.net/minimum-slurm-version'] ?? '', /^\d\d\.\d\d$/);
});
