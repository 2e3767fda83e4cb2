/** Every YAML example in docs/ is created on an API server with our CRDs: what a reader copies is accepted. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  InvalidError,
  type KubeObject,
  kubeconfigConfig,
  namespaces,
  type Resource,
} from '@slurm-operator/kube';
import { parseAllDocuments } from 'yaml';
import { customResourceDefinition } from './index.ts';
import { kinds } from './kinds/index.ts';

const root = join(import.meta.dirname, '../../..');
let server: ApiServer;
let client: Client;

before(async () => {
  server = await startApiServer();
  const config = await kubeconfigConfig({ text: server.kubeconfig() });
  client = createClient(config, { userAgent: 'test', rateLimit: false });
  for (const kind of kinds)
    await client.create(customResourceDefinitions, customResourceDefinition(kind) as never);
});
after(async () => {
  client.close();
  await server.stop();
});

interface Example {
  readonly page: string;
  readonly line: number;
  readonly text: string;
}

function examples(): Example[] {
  return globSync('docs/**/*.md', { cwd: root }).flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    return [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map((match) => ({
      page,
      line: text.slice(0, match.index).split('\n').length,
      text: match[1] ?? '',
    }));
  });
}

const resourceOf = ({ apiVersion, kind }: KubeObject): Resource => {
  const ours = kinds.find((one) => one.kind === kind);
  return { apiVersion, kind, plural: ours?.plural ?? `${kind.toLowerCase()}s`, namespaced: true };
};

let counter = 0;

/** In a namespace of its own, so that examples do not meet. */
async function accept(text: string): Promise<number> {
  counter += 1;
  const namespace = `example-${counter}`;
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const objects = parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
  for (const object of objects)
    await client.create(resourceOf(object), { ...object, metadata: { ...object.metadata, namespace } });
  return objects.length;
}

/** Kinds of Karpenter are not served here. */
const found = examples().filter(({ text }) => !/^apiVersion: karpenter\.sh\//m.test(text));

test('there are examples, of every kind', () => {
  const text = found.map((example) => example.text).join('\n');
  for (const { kind } of kinds) assert.match(text, new RegExp(`^kind: ${kind}\\b`, 'm'), kind);
});

for (const { page, line, text } of found)
  test(`${page}:${line} is accepted`, async () => {
    assert.ok((await accept(text)) > 0);
  });

test('detects a planted field of the wrong type', async () => {
  const wrong =
    'apiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nmetadata: { name: x }\nspec: { replicas: many }\n';
  await assert.rejects(accept(wrong), InvalidError);
});
