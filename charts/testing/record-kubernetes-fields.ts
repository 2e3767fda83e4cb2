/**
 * `node charts/testing/record-kubernetes-fields.ts`: writes `testdata/kubernetes-fields.json` again, from the types that the releases of
 * @kubernetes/client-node were generated with. No release has Kubernetes 1.31 or 1.35: a field that came with 1.31 counts as one of 1.32.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { runCommand } from '@slurm-operator/sandbox';
import type { FieldTable } from './kubernetes-fields.ts';

/** The minor version of Kubernetes, and the release of the client that has its types. */
const releases: readonly (readonly [number, string])[] = [
  [30, '0.22.0'],
  [32, '1.0.0'],
  [33, '1.2.0'],
  [34, '1.4.0'],
  [36, '2.0.1'],
];

/** What the charts render and the operator creates, by the name of its type. */
const roots: Readonly<Record<string, string>> = {
  'v1/ConfigMap': 'V1ConfigMap',
  'v1/Namespace': 'V1Namespace',
  'v1/PersistentVolumeClaim': 'V1PersistentVolumeClaim',
  'v1/Pod': 'V1Pod',
  'v1/Secret': 'V1Secret',
  'v1/Service': 'V1Service',
  'v1/ServiceAccount': 'V1ServiceAccount',
  'admissionregistration.k8s.io/v1/MutatingWebhookConfiguration': 'V1MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy': 'V1ValidatingAdmissionPolicy',
  'admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding': 'V1ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration': 'V1ValidatingWebhookConfiguration',
  'apiextensions.k8s.io/v1/CustomResourceDefinition': 'V1CustomResourceDefinition',
  'apps/v1/ControllerRevision': 'V1ControllerRevision',
  'apps/v1/Deployment': 'V1Deployment',
  'apps/v1/StatefulSet': 'V1StatefulSet',
  'batch/v1/Job': 'V1Job',
  'networking.k8s.io/v1/Ingress': 'V1Ingress',
  'networking.k8s.io/v1/NetworkPolicy': 'V1NetworkPolicy',
  'policy/v1/PodDisruptionBudget': 'V1PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1/ClusterRole': 'V1ClusterRole',
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': 'V1ClusterRoleBinding',
  'rbac.authorization.k8s.io/v1/Role': 'V1Role',
  'rbac.authorization.k8s.io/v1/RoleBinding': 'V1RoleBinding',
  'scheduling.k8s.io/v1/PriorityClass': 'V1PriorityClass',
};

type Types = Map<string, Map<string, string>>;

function typesOf(directory: string): Types {
  const types: Types = new Map();
  for (const file of globSync(`${directory}/package/dist/gen/model*/*.js`)) {
    const text = readFileSync(file, 'utf8');
    const map = /\.attributeTypeMap = (\[[\s\S]*?\n?\]);/.exec(text)?.[1];
    if (map === undefined) continue;
    const name = basename(file, '.js');
    const fields = JSON.parse(map) as { readonly baseName: string; readonly type: string }[];
    types.set(
      name[0]?.toUpperCase() + name.slice(1),
      new Map(fields.map(({ baseName, type }) => [baseName, elementOf(type)])),
    );
  }
  return types;
}

/** `Array<V1Container>` and `{ [key: string]: V1X; }` lead to the type inside. */
const elementOf = (type: string): string => type.replaceAll(/Array<|>|\{ \[key: string\]: |; \}/g, '');

const directory = await mkdtemp(join(tmpdir(), 'kubernetes-fields-'));
try {
  const found = new Map<number, Types>();
  for (const [minor, release] of releases) {
    const place = await mkdtemp(join(directory, 'client-'));
    await runCommand(
      ['npm', 'pack', `@kubernetes/client-node@${release}`, '--silent', '--pack-destination', place],
      { timeoutMs: 300_000 },
    );
    await runCommand([
      'tar',
      '--extract',
      '--gzip',
      '--file',
      `${place}/kubernetes-client-node-${release}.tgz`,
      '--directory',
      place,
    ]);
    found.set(minor, typesOf(place));
  }
  const table: FieldTable = { minors: releases.map(([minor]) => minor), roots, types: {} };
  const types = table.types as Record<string, Record<string, [string, number, number?]>>;
  const waiting = Object.values(roots);
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (types[name] !== undefined) continue;
    const fields: Record<string, [string, number, number?]> = {};
    types[name] = fields;
    for (const [minor] of releases)
      for (const [field, type] of found.get(minor)?.get(name) ?? []) {
        fields[field] ??= [type, minor];
        // IntOrString is a number or a text, a field of no type of its own.
        if (/^V\d/.test(type)) waiting.push(type);
      }
    for (const [field, entry] of Object.entries(fields)) {
      const gone = releases.find(([minor]) => minor > entry[1] && !found.get(minor)?.get(name)?.has(field));
      if (gone !== undefined) entry[2] = gone[0];
    }
  }
  const lines = Object.keys(types)
    .toSorted()
    .map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(types[name])}`);
  writeFileSync(
    join(import.meta.dirname, '../testdata/kubernetes-fields.json'),
    `{\n  "minors": ${JSON.stringify(table.minors)},\n  "roots": ${JSON.stringify(roots)},\n  "types": {\n${lines.join(',\n')}\n  }\n}\n`,
  );
} finally {
  await rm(directory, { recursive: true, force: true });
}
