/** The plain YAML on a cluster: what `kubectl apply` of one file brings, without helm, and what stays when the webhook is gone. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Kubectl } from '@slurm-operator/demo/install';
import { buildOperatorImage, operatorImage } from '@slurm-operator/images';
import { type Client, deployments, pods } from '@slurm-operator/kube';
import { mutatingConfiguration } from '@slurm-operator/operator';
import { inGivenRegistry, loadsImages, needsCluster } from './src/given/given-cluster.ts';
import { createNamespace } from './src/given/ground.ts';
import { StagedCluster } from './src/staged-cluster.ts';
import { until } from './src/until.ts';

const plain = fileURLToPath(new URL('../deploy/slurm-operator.yaml', import.meta.url));
const namespace = 'slinky';
/** A namespace with objects of another team. */
const team = 'team';

describe('the plain YAML on a cluster', {
  ...needsCluster(),
  concurrency: false,
  timeout: 900_000,
}, () => {
  let staged: StagedCluster;
  let client: Client;
  let kubectl: Kubectl;
  let file: string;

  beforeAll(async () => {
    const images = loadsImages ? [(await buildOperatorImage()).path] : [];
    staged = await StagedCluster.start({ name: `plain-yaml-${process.pid}`, nodes: 1, images });
    client = staged.client;
    await createNamespace(client, team);
    file = join(staged.directory, 'slurm-operator.yaml');
    await writeFile(
      file,
      (await readFile(plain, 'utf8')).replaceAll(operatorImage, inGivenRegistry(operatorImage)),
    );
    kubectl = await Kubectl.open(staged.kubeconfig);
  });
  after(() => staged?.[Symbol.asyncDispose]());

  const available = (name: string) =>
    until(`Deployment ${name}`, async () => {
      const { spec, status } = await client.get(deployments, { namespace, name });
      return status?.availableReplicas === spec?.replicas;
    });

  it('one apply, and both programs are ready', async () => {
    await kubectl.run(['apply', '--server-side', '-f', file]);
    await Promise.all([available('slurm-operator'), available('slurm-operator-webhook')]);
    const { items } = await client.list(pods, { namespace });
    for (const { metadata, status } of items)
      assert.equal(status?.containerStatuses?.[0]?.restartCount, 0, `${metadata.name} was restarted`);
  });

  it('kubectl exec shows whom the operator is connected to, which no other pod is told', async () => {
    const said = await kubectl.say(
      '-n',
      namespace,
      'exec',
      'deploy/slurm-operator',
      '--',
      'curl',
      'localhost:8080/debug/vars',
    );
    const { slurmClients, memory } = JSON.parse(said) as { slurmClients: unknown[]; memory: { rss: number } };
    assert.deepEqual(slurmClients, []);
    console.log(`manager: ${Math.round(memory.rss / 1e6)} MB of memory with nothing to do`);
    const [operator] = (
      await client.list(pods, { namespace, labelSelector: 'app.kubernetes.io/name=slurm-operator' })
    ).items;
    const ask = (page: string) =>
      `fetch('http://${operator?.status?.podIP}:8080/${page}').then((answer) => console.log(answer.status))`;
    for (const [page, status] of [
      ['metrics', 200],
      ['debug/vars', 403],
    ] as const) {
      const elsewhere = ['exec', 'deploy/slurm-operator-webhook', '--', 'node', '-e', ask(page)];
      assert.equal((await kubectl.say('-n', namespace, ...elsewhere)).trim(), String(status), page);
    }
    const health = await kubectl.say(
      '-n',
      namespace,
      'exec',
      'deploy/slurm-operator-webhook',
      '--',
      'curl',
      '-sf',
      'localhost:8081/readyz',
    );
    assert.match(health, /\[\+\]webhook ok/);
  });

  it('there is no shell to be had, and nothing can be written', async () => {
    for (const shell of ['sh', 'bash']) {
      const { exitCode } = await kubectl.run(
        ['-n', namespace, 'exec', 'deploy/slurm-operator', '--', shell],
        {
          allowFailure: true,
        },
      );
      assert.notEqual(exitCode, 0);
    }
    const write = "require('fs').writeFileSync('/usr/lib/slurm-operator/x', '')";
    const { stderr } = await kubectl.run(
      ['-n', namespace, 'exec', 'deploy/slurm-operator', '--', 'node', '-e', write],
      { allowFailure: true },
    );
    assert.match(stderr, /EROFS|EACCES/);
  });

  const controller = (name: string, spec: object) =>
    JSON.stringify({
      apiVersion: 'slinky.slurm.net/v1beta1',
      kind: 'Controller',
      metadata: { name, namespace: team },
      spec: {
        slurmKeyRef: { name: 'k', key: 'slurm.key' },
        jwtKeyRef: { name: 'k', key: 'jwt.key' },
        ...spec,
      },
    });

  it('the webhook, the CRD and the policy each refuse what is theirs', async () => {
    const apply = (manifest: string) =>
      kubectl.run(['apply', '-f', '-'], { input: manifest, allowFailure: true });
    // A webhook that answers too late on a busy machine lets it pass.
    await until('the webhook to refuse it', async () => {
      const { exitCode, stderr } = await apply(controller('a', { configFileRefs: [{ name: 'nowhere' }] }));
      if (exitCode === 0) await kubectl.run(['delete', 'controllers.slinky.slurm.net', 'a']);
      return stderr.includes('ConfigMap "nowhere" does not exist in this namespace');
    });
    const name = await apply(controller('a', { clusterName: 'not good' }));
    assert.match(name.stderr, /clusterName must have 1 to 40 characters/);
    const long = await apply(controller('a-name-that-is-fine-on-its-own-here-2', {}));
    assert.match(long.stderr, /which has more than 40 characters: set spec\.clusterName/);
    assert.equal((await apply(controller('good', {}))).exitCode, 0);
    await until('the operator to say what is missing', async () =>
      (await kubectl.say('-n', team, 'get', 'controllers.slinky.slurm.net', 'good', '-o', 'yaml')).includes(
        'SecretNotFound',
      ),
    );
  });

  it('with the webhook down pods are scheduled as before, even where it is asked about each of them', async () => {
    const service = { name: 'slurm-operator-webhook', namespace };
    await kubectl.run(['apply', '-f', '-'], {
      input: JSON.stringify(mutatingConfiguration({ name: 'slurm-operator-webhook', service })),
    });
    await kubectl.run(['-n', namespace, 'scale', 'deploy/slurm-operator-webhook', '--replicas=0']);
    await until(
      'the webhook to be gone',
      async () =>
        (
          await client.list(pods, {
            namespace,
            labelSelector: 'app.kubernetes.io/name=slurm-operator-webhook',
          })
        ).items.length === 0,
    );
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'unrelated', namespace: team, labels: { 'app.kubernetes.io/name': 'slurmd' } },
      spec: {
        containers: [
          {
            name: 'c',
            image: inGivenRegistry(operatorImage),
            command: ['/usr/bin/node', '-e', 'setInterval(() => {}, 1000)'],
          },
        ],
      },
    };
    await client.create(pods, pod as never);
    await until(
      'a pod that runs',
      async () =>
        (await client.get(pods, { namespace: team, name: 'unrelated' })).status?.phase === 'Running',
    );
  });

  it('nothing was refused to either program, and deleting the file removes it all', async () => {
    staged.assertNothingRefused();
    await kubectl.run(['-n', team, 'delete', 'pod', 'unrelated', '--grace-period=0', '--force']);
    // Its namespace may be emptied before kubectl comes to what is in it.
    await kubectl.run(['delete', '--wait=false', '--ignore-not-found', '-f', file]);
    await until(
      'its namespace to be gone',
      async () => !(await kubectl.say('get', 'namespaces')).includes(namespace),
    );
    assert.doesNotMatch(await kubectl.say('get', 'clusterroles,crds'), /slurm-operator|slinky/);
  });
});
