/**
 * docs/migration.md, command by command, with helm and kubectl on an API server: releases as the users of upstream's charts have them,
 * then the page. No custom resource, key or worker is deleted or replaced. Daemons are not part of it (`migration-classes`).
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before as beforeAll, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { customResourceDefinition, finalizer, kinds } from '@slurm-operator/api';
import { type ApiServer, startApiServer } from '@slurm-operator/apiserver';
import { findHelm } from '@slurm-operator/charts';
import { findKubectl } from '@slurm-operator/localcluster';
import { type CommandResult, runCommand, scratchDirectory } from '@slurm-operator/sandbox';
import { stringify } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const upstreamKinds = ['Accounting', 'Controller', 'LoginSet', 'NodeSet', 'RestApi', 'Token'];
const page = await readFile(join(root, 'docs/migration.md'), 'utf8');

/** The commands of the blocks of a part of the page, with what a user fills in. */
const commands = (part: string): string[] =>
  [...part.matchAll(/```console\n([\s\S]*?)```/g)].map((match) =>
    (match[1] ?? '')
      .replaceAll(/^\$ /gm, '')
      .replaceAll('<the old charts>', '"$OLD_CHARTS"')
      .replaceAll('<the old chart>', '"$OLD_CHARTS/slurm-operator"')
      .replaceAll('<the old version>', '1.2.1')
      .replaceAll('your-values.yaml', '"$VALUES"')
      // Nothing runs on this server.
      .replaceAll(' --wait', ''),
  );
const [there = '', back = ''] = page.split('## Back to upstream');
const [blocks, wayBack] = [commands(there), commands(back)];

let directory: string;
let servers: ApiServer[] = [];
beforeAll(async () => {
  directory = scratchDirectory('migration-page');
  await writeCharts(directory);
});
after(async () => {
  for (const server of servers) await server.stop();
  servers = [];
  await rm(directory, { recursive: true, force: true });
});

/** A shell of a user on a new cluster with upstream's releases. */
async function user(name: string, crds: 'own release' | 'of the operator' | 'release in default') {
  const server = await startApiServer();
  servers.push(server);
  const kubeconfig = join(directory, `${name}.kubeconfig`);
  await writeFile(kubeconfig, server.kubeconfig());
  const path = `${dirname(await findHelm())}:${dirname(await findKubectl())}:${process.env['PATH'] ?? ''}`;
  const home = join(directory, name);
  await mkdir(home);
  const shell = (lines: string, allowFailure = false): Promise<CommandResult> =>
    runCommand(['bash', '-euo', 'pipefail', '-c', lines], {
      cwd: root,
      env: {
        PATH: path,
        HOME: home,
        KUBECONFIG: kubeconfig,
        OLD_CHARTS: directory,
        VALUES: join(directory, 'your-values.yaml'),
      },
      timeoutMs: 120_000,
      allowFailure,
    });
  const old = (chart: string) => join(directory, chart);
  for (const namespace of ['slinky', 'slurm']) await shell(`kubectl create namespace ${namespace}`);
  if (crds !== 'of the operator')
    await shell(
      `helm install slurm-operator-crds ${old('slurm-operator-crds')} --namespace ${crds === 'own release' ? 'slinky' : 'default'}`,
    );
  await shell(
    `helm install slurm-operator ${old('slurm-operator')} --namespace slinky --set crds.enabled=${crds === 'of the operator'}`,
  );
  await shell(`helm install slurm ${old('slurm')} --namespace slurm`);
  return shell;
}

const identities =
  'kubectl get controllers.slinky.slurm.net,nodesets.slinky.slurm.net,restapis.slinky.slurm.net,secrets --namespace slurm -o jsonpath=\'{range .items[*]}{.kind}/{.metadata.name} {.metadata.uid}{"\\n"}{end}\' | grep -v sh.helm | sort';

for (const crds of ['own release', 'of the operator', 'release in default'] as const)
  test(`the page is followed, custom resource definitions: ${crds}`, async () => {
    const shell = await user(crds.replaceAll(' ', '-'), crds);
    const before = (await shell(identities)).stdout;
    assert.equal(before.split('\n').filter((line) => line !== '').length, 5, before);

    if (crds === 'of the operator') {
      const step = blocks.findIndex((block) => block.includes('helm uninstall slurm-operator '));
      const tooEarly = await shell(blocks[step] ?? '', true);
      assert.equal(tooEarly.exitCode, 1, 'the operator is not uninstalled with the definitions');
      assert.match(tooEarly.stdout, /STOP/);
    }
    for (const block of blocks) {
      const isOfOperator = block.includes('crds.enabled=false');
      if (isOfOperator && crds !== 'of the operator') continue;
      const { stdout } = await shell(block);
      if (block.includes('comm -23')) await showsWhatGoes(stdout, () => shell(`VALUES=/dev/null\n${block}`));
    }
    assert.equal((await shell(identities)).stdout, before, 'every object and key is the one from before');
    const names = async (what: string) =>
      (await shell(`kubectl get ${what} --all-namespaces -o name`)).stdout.trim().split('\n').toSorted();
    for (const kind of upstreamKinds)
      assert.ok(
        (await names('crd')).some((name) => name.includes(`/${kind.toLowerCase()}s.slinky`)),
        kind,
      );
    const releases = (await shell('helm list --all-namespaces --short')).stdout.trim().split('\n');
    assert.deepEqual(releases.toSorted(), ['slurm', 'slurm-operator', 'slurm-operator-crds']);
    assert.deepEqual(
      (await names('validatingwebhookconfigurations')).filter((name) => name.includes('old')),
      [],
      'no webhook of the old operator is left',
    );
    const image = "-o jsonpath='{.spec.template.spec.containers[0].image}'";
    assert.match(
      (await shell(`kubectl --namespace slinky get deployment slurm-operator ${image}`)).stdout,
      /slurm-operator\/operator:/,
    );
    const { stdout: keys } = await shell('kubectl --namespace slurm get secret slurm-auth-slurm -o yaml');
    assert.match(keys, /helm\.sh\/resource-policy: keep/);
    if (crds === 'own release') await goesBack(shell, before);
    // A user who later removes a release that looks like a leftover keeps the clusters.
    else {
      await shell('helm uninstall slurm-operator-crds --namespace slinky');
      assert.equal((await shell(identities)).stdout, before);
    }
  });

type Shell = Awaited<ReturnType<typeof user>>;

/** The keys, which the next command keeps; and a NodeSet of upstream's chart that the values do not name. */
async function showsWhatGoes(withValues: string, withoutValues: () => Promise<CommandResult>): Promise<void> {
  const keys = ['secret/slurm-auth-jwt', 'secret/slurm-auth-slurm'];
  assert.deepEqual(withValues.trim().split('\n'), keys);
  const { stdout } = await withoutValues();
  assert.deepEqual(stdout.trim().split('\n'), ['nodeset.slinky.slurm.net/slurm-worker-slinky', ...keys]);
}

/** The operator of this project put its finalizer on the NodeSet, beside one of upstream's. */
async function goesBack(shell: Shell, before: string): Promise<void> {
  const nodeSet = 'nodeset.slinky.slurm.net/slurm-worker-slinky --namespace slurm';
  const [ours, theirs] = [finalizer.drain, finalizer.reservation];
  const patch = JSON.stringify({ metadata: { finalizers: [ours, theirs] } });
  await shell(`kubectl patch ${nodeSet} --type=merge --patch '${patch}'`);
  assert.equal(wayBack.length, 3);
  for (const block of wayBack) await shell(block);
  assert.equal((await shell(identities)).stdout, before, 'every object and key is the one from before');
  const left = await shell(`kubectl get ${nodeSet} -o jsonpath='{.metadata.finalizers}'`);
  assert.deepEqual(JSON.parse(left.stdout), [theirs]);
  const definitions = (await shell('kubectl get crd -o name')).stdout;
  assert.doesNotMatch(definitions, /clusters\.slinky/);
  assert.match(definitions, /nodesets\.slinky/);
  const image = "-o jsonpath='{.spec.template.spec.containers[0].image}'";
  const { stdout } = await shell(`kubectl --namespace slinky get deployment slurm-operator ${image}`);
  assert.equal(stdout, 'old:1');
}

async function writeCharts(place: string): Promise<void> {
  const definitions = kinds
    .filter(({ kind }) => upstreamKinds.includes(kind))
    .map((kind) => stringify(customResourceDefinition(kind), { version: '1.1' }))
    .join('\n---\n');
  const object = (apiVersion: string, kind: string, name: string, more: object) =>
    JSON.stringify({ apiVersion, kind, metadata: { name }, ...more });
  const slinky = (kind: string, name: string, spec: object) =>
    object('slinky.slurm.net/v1beta1', kind, name, { spec });
  const labels = { app: 'slurm-operator' };
  const charts: Readonly<Record<string, string>> = {
    'slurm-operator-crds': definitions,
    'slurm-operator': [
      `{{- if .Values.crds.enabled }}\n${definitions}\n---\n{{- end }}\n${object(
        'apps/v1',
        'Deployment',
        'slurm-operator',
        {
          spec: {
            replicas: 1,
            selector: { matchLabels: labels },
            template: {
              metadata: { labels },
              spec: { containers: [{ name: 'slurm-operator', image: 'old:1' }] },
            },
          },
        },
      )}`,
      object(
        'admissionregistration.k8s.io/v1',
        'ValidatingWebhookConfiguration',
        'old-slurm-operator-webhook',
        {
          webhooks: [],
        },
      ),
    ].join('\n---\n'),
    slurm: [
      object('v1', 'Secret', 'slurm-auth-slurm', { stringData: { 'slurm.key': 'a' }, immutable: true }),
      object('v1', 'Secret', 'slurm-auth-jwt', { stringData: { 'jwt.key': 'b' }, immutable: true }),
      slinky('Controller', 'slurm', {
        slurmKeyRef: { name: 'slurm-auth-slurm', key: 'slurm.key' },
        jwtKeyRef: { name: 'slurm-auth-jwt', key: 'jwt.key' },
      }),
      slinky('RestApi', 'slurm', { controllerRef: { name: 'slurm' } }),
      slinky('NodeSet', 'slurm-worker-slinky', { controllerRef: { name: 'slurm' }, replicas: 1 }),
    ].join('\n---\n'),
  };
  for (const [name, template] of Object.entries(charts)) {
    await mkdir(join(place, name, 'templates'), { recursive: true });
    await writeFile(
      join(place, name, 'Chart.yaml'),
      JSON.stringify({ apiVersion: 'v2', name, version: '1.2.1' }),
    );
    await writeFile(
      join(place, name, 'values.yaml'),
      JSON.stringify({ crds: { enabled: false }, operator: { replicas: 1 } }),
    );
    await writeFile(join(place, name, 'templates/all.yaml'), template);
  }
  await writeFile(
    join(place, 'your-values.yaml'),
    JSON.stringify({ nodesets: { slinky: { replicas: 1 } }, restapi: { replicas: 1 } }),
  );
}
