/** Debian's kubectl as a second, independent client: what people type, on built-in kinds and on custom ones. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommand, type Tools, unpackTools } from '@slurm-operator/sandbox';
import { type ApiServer, startApiServer } from '../src/index.ts';

let server: ApiServer;
let directory: string;
let tools: Tools;

before(async () => {
  tools = await unpackTools({ suite: 'forky', packages: ['kubectl'] });
  server = await startApiServer();
  directory = await mkdtemp(join(tmpdir(), 'apiserver-kubectl-'));
  await writeFile(join(directory, 'editor'), editor, { mode: 0o700 });
  await Promise.all(
    Object.entries({
      kubeconfig: server.kubeconfig(),
      'crd.yaml': crd,
      'widget.yaml': widget,
      'deployment.yaml': deployment,
    }).map(([name, text]) => writeFile(join(directory, name), text, { mode: 0o600 })),
  );
});

after(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function kubectl(...args: readonly string[]): Promise<string> {
  const { stdout } = await runCommand([tools.path('kubectl'), ...args], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: join(directory, 'kubeconfig'),
      HOME: directory,
      KUBE_EDITOR: join(directory, 'editor'),
    },
  });
  return stdout.trim();
}

test('a custom kind: apply, wait, get with columns, explain, describe, scale, edit, delete', async () => {
  assert.match(await kubectl('apply', '-f', 'crd.yaml'), /created$/);
  assert.match(
    await kubectl('wait', '--for=condition=Established', 'crd/widgets.kc.example.org', '--timeout=120s'),
    /condition met$/,
  );
  assert.match(await kubectl('apply', '-f', 'widget.yaml'), /created$/);
  assert.match(await kubectl('apply', '-f', 'widget.yaml'), /unchanged$/);
  assert.match(await kubectl('get', 'wd'), /^NAME +SIZE +AGE\nw +4 +\d+s$/);
  assert.match(await kubectl('explain', 'widget.spec.size'), /FIELD: size <integer>[^]*how big/);
  assert.match(await kubectl('describe', 'widget', 'w'), /Size: +4/);
  assert.match(await kubectl('scale', 'widget', 'w', '--replicas=3'), /scaled$/);
  assert.match(await kubectl('edit', 'widget', 'w'), /edited$/);
  assert.equal(await kubectl('get', 'widget', 'w', '-o', 'jsonpath={.spec.replicas} {.spec.size}'), '3 5');
  await assert.rejects(
    kubectl('patch', 'widget', 'w', '--type=merge', '-p', '{"spec":{"size":200}}'),
    /spec: Invalid value: too big/,
  );
  assert.match(
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', 'widget.yaml'),
    /serverside-applied$/,
  );
  assert.match(await kubectl('get', 'all'), /widget\.kc\.example\.org\/w/);
  assert.match(await kubectl('delete', '-f', 'widget.yaml'), /deleted/);
  assert.match(await kubectl('delete', 'crd', 'widgets.kc.example.org'), /deleted/);
});

test('a Deployment: client-side apply merges lists by key, set env adds to them', async () => {
  assert.match(await kubectl('apply', '-f', 'deployment.yaml'), /created$/);
  assert.match(await kubectl('set', 'env', 'deployment/d', 'B=2'), /env updated$/);
  assert.match(await kubectl('apply', '-f', 'deployment.yaml'), /(configured|unchanged)$/);
  const env = await kubectl(
    'get',
    'deploy',
    'd',
    '-o',
    'jsonpath={.spec.template.spec.containers[0].env[*].name}',
  );
  assert.equal(env, 'A B');
  assert.match(
    await kubectl('explain', 'deployment.spec.strategy'),
    /rollingUpdate\t<RollingUpdateDeployment>/,
  );
  assert.match(await kubectl('diff', '-f', 'deployment.yaml'), /^$/);
});

test('a built-in kind: get, describe, patch by key, scale, edit, wait, apply by the server, delete', async () => {
  assert.match(await kubectl('get', 'deploy', 'd'), /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nd +0\/1/);
  const patch = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s"}]}}}}';
  assert.match(await kubectl('patch', 'deploy', 'd', '-p', patch), /patched$/);
  assert.match(await kubectl('scale', 'deploy', 'd', '--replicas=4'), /scaled$/);
  assert.match(await kubectl('edit', 'deploy', 'd'), /edited$/);
  assert.match(
    await kubectl('wait', '--for=jsonpath={.spec.replicas}=4', 'deploy/d', '--timeout=120s'),
    /condition met$/,
  );
  assert.match(await kubectl('describe', 'deploy', 'd'), /side:\n +Image: +s[^]*c:\n +Image: +z/);
  assert.match(
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', 'deployment.yaml'),
    /serverside-applied$/,
  );
  assert.equal(
    await kubectl(
      'get',
      'deploy',
      'd',
      '-o',
      'jsonpath={.spec.replicas} {.spec.template.spec.containers[*].image}',
    ),
    '1 s x',
  );
  assert.match(await kubectl('delete', 'deploy', 'd'), /deleted/);
  await assert.rejects(kubectl('get', 'deploy', 'd'), /NotFound/);
});

test('what kubectl sends as protobuf is read: create, auth, a dry run of the server', async () => {
  assert.match(await kubectl('create', 'configmap', 'c', '--from-literal=a=b'), /created$/);
  assert.equal(await kubectl('get', 'cm', 'c', '-o', 'jsonpath={.data.a}'), 'b');
  assert.equal(await kubectl('auth', 'can-i', 'list', 'pods'), 'yes');
  assert.match(
    await kubectl('create', 'deployment', 'two', '--image=i', '--replicas=2', '--dry-run=server'),
    /server dry run/,
  );
  assert.match(await kubectl('create', 'role', 'r', '--verb=get', '--resource=pods'), /created$/);
  assert.match(
    await kubectl('create', 'rolebinding', 'rb', '--role=r', '--serviceaccount=default:default'),
    /created$/,
  );
  assert.equal(
    await kubectl('auth', 'can-i', 'get', 'pods', '--as=system:serviceaccount:default:default'),
    'yes',
  );
});

test('an unknown field is refused, and the server is named', async () => {
  await writeFile(join(directory, 'bad.yaml'), deployment.replace('replicas:', 'replicaz:'));
  await assert.rejects(kubectl('create', '-f', 'bad.yaml'), /unknown field "spec\.replicaz"/);
  assert.match(await kubectl('version'), /Server Version: v1\.36/);
  assert.match(
    await kubectl('api-resources', '--api-group=apps'),
    /statefulsets +sts +apps\/v1 +true +StatefulSet/,
  );
});

/** Edits as a person would: one value. */
const editor = `#!/bin/sh
sed -i -e 's/size: 4$/size: 5/' -e 's/image: x$/image: z/' "$1"
`;

const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.kc.example.org}
spec:
  group: kc.example.org
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: self.size < 100, message: too big}]
            properties:
              size: {type: integer, description: how big, default: 3}
              replicas: {type: integer}
          status: {type: object, properties: {replicas: {type: integer}}}
`;

const widget = `
apiVersion: kc.example.org/v1
kind: Widget
metadata: {name: w}
spec: {size: 4, replicas: 1}
`;

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: 1
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: x, env: [{name: A, value: "1"}]}]}
`;
