/**
 * Every rendering of the charts has only fields that each supported minor version of Kubernetes knows, and so have pod templates inside
 * custom resources. An unknown field is dropped silently by a server, or refused where it is applied server-side.
 */
import assert from 'node:assert/strict';
import { after, before as beforeAll, describe, test } from 'node:test';
import { chart, Helm, type Manifest } from './src/index.ts';
import { recordedFields, supportedMinors, unknownFields, unknownIn } from './testing/kubernetes-fields.ts';
import { operatorMatrix, slurmMatrix } from './testing/matrix.ts';

const table = recordedFields();

/** What values of the matrix ask for by name and only newer servers have: the user's choice, not the chart's. */
const asked: Readonly<Record<string, number>> = {};

let helm: Helm;
beforeAll(async () => {
  helm = await Helm.open({ progress: console.log });
});
after(() => helm?.[Symbol.asyncDispose]());

const templates = (object: Manifest): unknown =>
  (object as { spec?: { template?: { spec?: unknown } } }).spec?.template?.spec;

for (const [name, matrix] of [
  ['slurm-operator-crds', { defaults: {} }],
  ['slurm-operator', operatorMatrix],
  ['slurm', slurmMatrix],
] as const)
  for (const [values, given] of Object.entries<object>(matrix))
    test(`chart ${name}, ${values}: every field is known to Kubernetes 1.30 to 1.36`, async () => {
      const objects = await helm.template('r', chart(name), given);
      let checked = 0;
      for (const minor of supportedMinors)
        for (const object of objects) {
          const own = object.apiVersion.startsWith('slinky.slurm.net/');
          const unknown = own
            ? unknownIn(table, 'V1PodSpec', templates(object), minor, `${object.kind}.spec.template.spec`)
            : unknownFields(table, object, minor);
          // Kinds of others: cert-manager, Prometheus.
          if (unknown === undefined) {
            assert.match(object.apiVersion, /^(cert-manager\.io|monitoring\.coreos\.com)\//);
            continue;
          }
          checked += 1;
          assert.deepEqual(
            unknown.filter((path) => (asked[path] ?? 0) < minor),
            [],
            `1.${minor}: ${object.kind} ${object.metadata.name}`,
          );
        }
      assert.ok(checked > 0 || objects.length === 0);
    });

describe('the check', () => {
  const pod = (spec: object) => ({ apiVersion: 'v1', kind: 'Pod', spec });

  test('finds a field that is younger than the server', () => {
    const resources = pod({ containers: [], resources: { limits: { cpu: '1' } } });
    assert.deepEqual(unknownFields(table, resources, 31), ['Pod.spec.resources']);
    assert.deepEqual(unknownFields(table, resources, 32), []);
  });

  test('finds a misspelt field at any depth', () => {
    const wrong = pod({ dNSPolicy: 'x', containers: [{ name: 'a', volumeMounts: [{ mountpath: '/' }] }] });
    for (const minor of supportedMinors)
      assert.deepEqual(unknownFields(table, wrong, minor), [
        'Pod.spec.dNSPolicy',
        'Pod.spec.containers[0].volumeMounts[0].mountpath',
      ]);
  });

  test('finds a field that is gone', () => {
    const claims = pod({ containers: [], resourceClaims: [{ name: 'a', source: {} }] });
    assert.deepEqual(unknownFields(table, claims, 30), []);
    assert.deepEqual(unknownFields(table, claims, 36), ['Pod.spec.resourceClaims[0].source']);
  });

  test('leaves keys of maps alone', () => {
    const labelled = { ...pod({ containers: [] }), metadata: { labels: { anything: 'x' } } };
    assert.deepEqual(unknownFields(table, labelled, 30), []);
  });
});
