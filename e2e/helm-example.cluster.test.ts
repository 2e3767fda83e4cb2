/**
 * The complete example of a guide that people follow: its values on four nodes, its Token, its curl script and its Python
 * client, word for word; and every line with kubectl in it. What had to be edited, and why, is in docs/example.md.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before as beforeAll, describe, it } from 'node:test';
import { chart } from '@slurm-operator/charts';
import { installSlurm, smallMachine } from '@slurm-operator/demo/install';
import { findCondition, pods, secrets } from '@slurm-operator/kube';
import { clusters, restApis, tokens } from '@slurm-operator/operator';
import { runCommand, unpackTools } from '@slurm-operator/sandbox';
import { parse, stringify } from 'yaml';
import {
  givenRegistry,
  inGivenRegistry,
  installMariadb,
  installOperator,
  isGiven,
  loadsImages,
  needsCluster,
  needsTestImages,
} from './src/given/given-cluster.ts';
import { createNamespace } from './src/given/ground.ts';
import { buildClientImage, clientImage } from './src/helm/client-image.ts';
import { HelmStage } from './src/helm/helm-stage.ts';
import { signalDaemon } from './src/processes.ts';
import { until, untilAllReady, untilCondition } from './src/until.ts';

/** The namespace of the guide. On a cluster of others it has another name: `default` may be in use. */
const home = isGiven ? 'slurm-example' : 'default';
const file = (path: string) =>
  readFileSync(new URL(`testdata/example/${path}`, import.meta.url), 'utf8')
    .replaceAll(/\bdefault\b/g, home)
    .replaceAll(clientImage, inGivenRegistry(clientImage));
/** The release that the guide's version of the REST interface belongs to, and one where only that version changes. */
const releases = { '24.11': 'v0.0.41', '26.05': 'v0.0.45' } as const;

interface KubectlLine {
  readonly line: string;
  /** What is run where the line cannot be, and why it cannot. */
  readonly instead?: string;
  readonly because?: string;
  readonly says: string;
}

/** A user of the directory, where there is none: slurmctld and the workers must know who admin is. */
const passwd = [
  'root:x:0:0:root:/root:/bin/bash',
  'slurm:x:401:401::/var/lib/slurm:/usr/sbin/nologin',
  'slurmrestd:x:402:402::/:/usr/sbin/nologin',
  'admin:x:5000:5000::/tmp:/bin/bash',
  'nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin',
  '',
].join('\n');
const users = { name: 'users', mountPath: '/etc/passwd', subPath: 'passwd' };
const volumes = [{ name: 'users', configMap: { name: 'users' } }];

for (const version of ['24.11', '26.05'] as const)
  describe(`the example on four nodes with Slurm ${version}`, {
    ...(loadsImages ? needsCluster(4) : needsTestImages),
    concurrency: false,
    timeout: 1_500_000,
  }, () => {
    let stage: HelmStage;
    let path: string;
    const name = `e2e-example-${version.replace('.', '')}-${process.pid}`;
    const script = (which: string) => file(which).replaceAll('v0.0.41', releases[version]);

    const values = () => {
      const given = parse(file('values.yaml').replaceAll('"24.11"', `"${version}"`)) as {
        nodesets: { compute: object };
      };
      return {
        ...given,
        ...smallMachine,
        registry: givenRegistry,
        controller: {
          ...(given as { controller?: { slurmctld?: object } }).controller,
          ...smallMachine.controller,
        },
        loginsetDefaults: { login: { image: { tag: version } } },
        extraObjects: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'users', namespace: home },
            data: { passwd },
          },
        ],
      };
    };
    const withUsers = () => {
      const all = values() as unknown as {
        controller: { slurmctld: object };
        nodesets: { compute: { slurmd: object } };
      };
      return {
        ...all,
        controller: {
          ...all.controller,
          slurmctld: { ...all.controller.slurmctld, volumeMounts: [users] },
          podSpec: { volumes },
        },
        nodesets: {
          compute: {
            ...all.nodesets.compute,
            slurmd: { ...all.nodesets.compute.slurmd, volumeMounts: [users] },
            podSpec: { volumes },
          },
        },
      };
    };
    const inClient = async (command: readonly string[], input = '') => {
      const ran = await stage.kubectl.run(['exec', '-i', 'client', '--', ...command], {
        input,
        allowFailure: true,
      });
      assert.equal(ran.exitCode, 0, `${command.join(' ')}: ${ran.stdout}\n${ran.stderr}`);
      return ran.stdout;
    };
    const connected = async () => {
      const { status } = await stage.client.get(clusters, { namespace: home, name: 'my-cluster' });
      return findCondition(status?.conditions, 'SlurmConnected');
    };
    const signal = async (daemon: string, which: 'STOP' | 'CONT') => {
      for (const { metadata } of await stage.pods(home, daemon))
        await signalDaemon(stage.client, metadata, daemon, which);
    };
    const told = (reason: RegExp) =>
      until(`the connection to say ${reason}`, async () => {
        const found = await connected();
        if (found !== undefined && reason.test(found.reason)) return found;
        throw new Error(`it says ${found?.reason ?? 'nothing'}: ${found?.message ?? ''}`);
      });

    beforeAll(async () => {
      stage = await HelmStage.open({ name, nodes: 4, version });
      if (loadsImages) await stage.staged.loadImage(await buildClientImage(stage.directory));
      if (isGiven) {
        await createNamespace(stage.client, home);
        await stage.kubectl.run(['config', 'set-context', '--current', '--namespace', home]);
      }
      const tools = await unpackTools({ suite: 'trixie', packages: ['jq', 'curl'] });
      path = `${stage.kubectl.program.replace(/\/kubectl$/, '')}:${tools.bin}:${process.env['PATH'] ?? ''}`;
      // So that what does not answer is told soon.
      await installOperator(stage.helm, { operator: { slurmRequestTimeout: '3s' } });
    });
    after(() => stage?.[Symbol.asyncDispose]());

    it('the complete values install and become Ready', async () => {
      await installMariadb(stage.kubectl, home, 'password');
      const given = await stage.helm.file(withUsers());
      await stage.helm.run([
        'install',
        'my-cluster',
        chart('slurm'),
        '-f',
        given,
        '-n',
        home,
        '--create-namespace',
      ]);
      const key = await until('the generated key', () =>
        stage.client.find(secrets, { namespace: home, name: 'my-cluster-auth-jwths256' }),
      );
      // The guide leaves its key open: here it is the cluster's own.
      await stage.client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'slurm-jwt-key', namespace: home },
        data: { ...key.data },
      });
      await untilAllReady(stage.client, home, { timeoutMs: 400_000 });
      // The same without helm: the rendered files, applied with kubectl.
      const rendered = await stage.helm.run([
        'template',
        'my-cluster',
        chart('slurm'),
        '-f',
        given,
        '-n',
        home,
      ]);
      await writeFile(join(stage.directory, 'slurm-cluster.yaml'), rendered.stdout);
      assert.equal((await stage.pods(home, 'slurmd')).length, 4);
      assert.equal((await stage.pods(home, 'slurmrestd')).length, 2);
    });

    it('its Token becomes a Secret', async () => {
      await stage.kubectl.run(['apply', '-f', '-'], { input: file('token.yaml') });
      const jwt = await until('the token', () => stage.token({ namespace: home, name: 'admin-jwt-secret' }));
      assert.match(jwt, /^[\w-]+\.[\w-]+\.[\w-]+$/);
      const ref = { namespace: home, name: 'admin-token' };
      const degraded = await untilCondition(stage.client, tokens, ref, { type: 'Degraded' });
      assert.match(degraded.message, /no Controller in namespace \S+ uses Secret/, 'the odd key is told');
    });

    it('its curl script and its Python client run as they are', async () => {
      await stage.kubectl.run(['apply', '-f', '-'], { input: clientPod() });
      await until('the client', async () => {
        const pod = await stage.client.get(pods, { namespace: home, name: 'client' });
        return pod.status?.phase === 'Running';
      });
      const said = documents(await inClient(['bash', '-s'], script('rest.sh')));
      const [ping, nodes, jobs, partitions, refused] = said;
      assert.equal(said.length, 5);
      assert.deepEqual(
        said.slice(0, 4).flatMap((each) => each['errors'] ?? []),
        [],
      );
      assert.equal((ping?.['pings'] as unknown[] | undefined)?.length, 1);
      assert.deepEqual(namesIn(nodes?.['nodes']), ['compute-0', 'compute-1', 'compute-2', 'compute-3']);
      assert.ok(Array.isArray(jobs?.['jobs']));
      assert.deepEqual(namesIn(partitions?.['partitions']), ['all', 'compute']);
      // Slurm wants minutes there, in every version of its interface: the one edit that the scripts need.
      assert.match(JSON.stringify(refused?.['errors']), /Expected integer.*00:10:00.*job\/time_limit/);
      const [, , , , submitted] = documents(
        await inClient(['bash', '-s'], script('rest.sh').replace('"00:10:00"', '10')),
      );
      assert.ok((submitted?.['job_id'] as number) > 0, JSON.stringify(submitted));

      const client = await stage.kubectl.run(['exec', '-i', 'client', '--', 'python3', '-'], {
        input: script('client.py'),
        allowFailure: true,
      });
      for (const title of ['Ping', 'Nodes', 'Partitions', 'Submit Job'])
        assert.match(client.stdout, new RegExp(`=== ${title} ===`));
      assert.match(client.stdout, /- compute-3: \[/);
      assert.match(client.stderr, /HTTPError: \d+ .*job\/submit/, 'the same edit');
      const edited = await inClient(['python3', '-'], script('client.py').replace('"00:05:00"', '5'));
      assert.match(edited, /"job_id": [1-9]/);
    });

    if (version === '24.11') {
      it('a second cluster, with the old spellings, makes the key under its old name', async () => {
        const plain = { ...smallMachine, ...stage.images, slurmKeyRef: {}, jwtHs256KeyRef: {} };
        await installSlurm(stage.helm, { release: 'slurm', namespace: 'slurm', values: plain });
        await untilAllReady(stage.client, 'slurm', { timeoutMs: 300_000 });
        assert.ok((await stage.names(secrets, 'slurm')).includes('slurm-auth-jwths256'));
      });

      for (const { line, instead, says } of JSON.parse(file('kubectl-lines.json')) as KubectlLine[])
        it(line, async () => {
          const run = () =>
            runCommand(['bash', '-c', instead ?? line], {
              cwd: stage.directory,
              env: { PATH: path, HOME: process.env['HOME'], KUBECONFIG: `${stage.directory}/kubeconfig` },
              timeoutMs: 300_000,
            });
          const wanted = says.startsWith('(?i)') ? new RegExp(says.slice(4), 'i') : new RegExp(says);
          await until(`${line} says ${says}`, async () => wanted.test((await run()).stdout));
        });

      it('the token that was deleted is made again', async () => {
        const ref = { namespace: home, name: 'admin-jwt-secret' };
        await until('a new token', async () => (await stage.token(ref)) !== '');
      });

      it('READY is false: slurmrestd does not run, and the message says so; it recovers automatically', async () => {
        const ref = { namespace: home, name: 'my-cluster' };
        await stage.client.mergePatch(restApis, ref, { spec: { replicas: 0 } });
        const found = await told(/ConnectionRefused|ConnectionTimeout/);
        assert.match(found.message, /my-cluster-restapi/);
        const { status } = await stage.client.get(clusters, ref);
        assert.equal(status?.isReady, false);
        await stage.client.mergePatch(restApis, ref, { spec: { replicas: 1 } });
        await told(/^Connected$/);
      });

      it('a timeout: slurmrestd does not respond, and the message says so; it recovers automatically', async () => {
        await until('one slurmrestd', async () => (await stage.pods(home, 'slurmrestd')).length === 1);
        await signal('slurmrestd', 'STOP');
        try {
          assert.match((await told(/Timeout/)).message, /my-cluster-restapi/);
        } finally {
          await signal('slurmrestd', 'CONT');
        }
        await told(/^Connected$/);
      });

      it('a token that Slurm refuses: it says so', async () => {
        const namespace = home;
        await stage.client.create(secrets, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'bad-token', namespace },
          data: { SLURM_JWT: Buffer.from('no.good.token').toString('base64') },
        });
        const server = `http://my-cluster-restapi.${home}:6820`;
        await stage.client.create(clusters, {
          apiVersion: 'slinky.slurm.net/v1beta1',
          kind: 'Cluster',
          metadata: { name: 'refused', namespace },
          spec: { server, tokenSecretRef: { name: 'bad-token', key: 'SLURM_JWT' } },
        } as never);
        const ref = { namespace, name: 'refused' };
        await untilCondition(stage.client, clusters, ref, { type: 'Ready', reason: 'AuthenticationFailed' });
      });

      it('outdated state: while slurmctld does not respond no pods are deleted', async () => {
        const before = await stage.identities(home, 'slurmd');
        await signal('slurmctld', 'STOP');
        try {
          await told(/^(?!Connected$)/);
        } finally {
          await signal('slurmctld', 'CONT');
        }
        await told(/^Connected$/);
        assert.deepEqual(await stage.identities(home, 'slurmd'), before);
      });
    }
  });

const namesIn = (list: unknown): string[] =>
  (list as { name: string }[]).map(({ name: each }) => each).toSorted();

/** Several JSON documents one after the other, as `jq .` prints them. */
function documents(text: string): Record<string, unknown>[] {
  return text
    .split(/^(?=\{$)/m)
    .filter((part) => part.trim() !== '')
    .map((part) => JSON.parse(part) as Record<string, unknown>);
}

/** A pod that may read what the scripts read. */
function clientPod(): string {
  const metadata = { name: 'client', namespace: home };
  const apiGroup = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['secrets', 'services'], verbs: ['get'] }],
    },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'Role', name: 'client' },
      subjects: [{ kind: 'ServiceAccount', name: 'client', namespace: home }],
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        serviceAccountName: 'client',
        containers: [{ name: 'client', image: inGivenRegistry(clientImage) }],
      },
    },
  ]
    .map((object) => stringify(object, { version: '1.1' }))
    .join('---\n');
}
