/** The control plane with real daemons on a local cluster: everything Ready, everything answers, every fault is told. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { buildImage, imageTag } from '@slurm-operator/images';
import {
  configMaps,
  deployments,
  exec,
  findCondition,
  type KubeObject,
  pods,
  type Resource,
  secrets,
  services,
} from '@slurm-operator/kube';
import {
  accountings,
  clusters,
  controllers,
  loginSets,
  nodeSets,
  restApis,
  tokens,
} from '@slurm-operator/operator';
import { namespace, operatorUser, SlurmStage } from './src/slurm-stage.ts';

const version = process.env['SLURM_VERSION'] === '24.11' ? '24.11' : '26.05';
let stage: SlurmStage;
const root = process.getuid?.() === 0;
const it = (name: string, scenario: () => Promise<void>): void => {
  void test(name, { skip: root ? false : 'needs root: it runs containers' }, scenario);
};

beforeAll(async () => {
  if (!root) return;
  stage = await SlurmStage.open({ name: 'e2e-control', nodes: 3, version });
  for (const name of ['slurmdbd', 'login'] as const)
    await stage.cluster.loadImage((await buildImage(name, version)).path);
  for (const name of ['mariadb', 'ldap'] as const)
    await stage.cluster.loadImage((await buildImage(name)).path);
  stage.operator.start();
});
after(() => stage?.[Symbol.asyncDispose]());

async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  seconds = 60,
): Promise<T> {
  let found: T | undefined | false;
  let last: unknown;
  await stage.until(
    what,
    async () => {
      try {
        found = await look();
      } catch (error) {
        last = error;
      }
      return found !== undefined && found !== false;
    },
    seconds * 1000,
    () => Promise.resolve(last instanceof Error ? last.message : 'nothing'),
  );
  return found as T;
}

const create = <T extends KubeObject>(resource: Resource<T>, name: string, rest: object) =>
  stage.client.create(resource, {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { name, namespace },
    ...rest,
  } as never);

const secret = (name: string, values: Record<string, string | Buffer>) =>
  create(secrets, name, {
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
  });

const conditionOf = async <T extends KubeObject>(resource: Resource<T>, name: string, type: string) => {
  const object = await stage.client.get(resource, { namespace, name });
  const { status } = object as unknown as { status?: { conditions?: never[] } };
  return findCondition(status?.conditions, type);
};

const ready = <T extends KubeObject>(resource: Resource<T>, name: string, seconds = 120) =>
  eventually(
    `${resource.kind} ${name} to be Ready`,
    async () => {
      const found = await conditionOf(resource, name, conditionType.ready);
      if (found?.status === 'True') return found;
      throw new Error(found?.message ?? 'it says nothing');
    },
    seconds,
  );

const run = async (pod: string, container: string, command: string[]) => {
  const { exitCode, stdout, stderr } = await exec(stage.client, { namespace, name: pod }, command, {
    container,
    timeout: 30_000,
  });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stderr}`);
  return stdout;
};

const withImage = (name: 'slurmctld' | 'slurmd' | 'slurmdbd' | 'slurmrestd' | 'login') => ({
  [name]: { image: imageTag(name, version) },
});

const podOf = async (name: string) => {
  const list = await stage.client.list(pods, { namespace, labelSelector: `app.kubernetes.io/name=${name}` });
  const found = list.items.find((pod) => pod.metadata.deletionTimestamp === undefined);
  assert.ok(found, `a pod of ${name}`);
  return found.metadata.name;
};

/** A Deployment of one pod and a Service in front of it. */
const simple = async (
  name: string,
  image: string,
  port: number,
  more: { env?: object[]; volumes?: object[]; mounts?: object[] },
) => {
  const labels = { app: name };
  await create(services, name, { spec: { selector: labels, ports: [{ port }] } });
  await create(deployments, name, {
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name,
              image,
              env: more.env ?? [],
              volumeMounts: more.mounts ?? [],
              readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
            },
          ],
          volumes: more.volumes ?? [],
        },
      },
    },
  });
};

const people = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: uid=alice,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
objectClass: posixAccount
cn: Alice
sn: Example
uid: alice
uidNumber: 5001
gidNumber: 5001
homeDirectory: /tmp
loginShell: /bin/bash
userPassword: wonderland
`;

/** By address: what a resolver makes of search domains is not what is tested here. */
const sssdConf = (ldap: string) => `[sssd]
services = nss, pam
domains = example
[domain/example]
id_provider = ldap
auth_provider = ldap
ldap_uri = ldap://${ldap}:1389
ldap_search_base = dc=example,dc=org
ldap_id_use_start_tls = false
ldap_auth_disable_tls_never_use_in_production = true
`;

it('the six kinds of the control plane become Ready, with workers that NodeSet makes', async () => {
  await secret('mariadb', { password: 'a pass#word\\' });
  await create(configMaps, 'people', { data: { 'people.ldif': people } });
  await simple('mariadb', imageTag('mariadb'), 3306, {
    env: [
      { name: 'MARIADB_DATABASE', value: 'slurm_acct_db' },
      { name: 'MARIADB_USER', value: 'slurm' },
      { name: 'MARIADB_PASSWORD', valueFrom: { secretKeyRef: { name: 'mariadb', key: 'password' } } },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
    mounts: [{ name: 'data', mountPath: '/var/lib/mysql' }],
  });
  await simple('ldap', imageTag('ldap'), 1389, {
    volumes: [{ name: 'seed', configMap: { name: 'people' } }],
    mounts: [{ name: 'seed', mountPath: '/seed' }],
  });
  const ldap = await stage.client.get(services, { namespace, name: 'ldap' });
  await secret('sssd', { 'sssd.conf': sssdConf(ldap.spec?.clusterIP ?? '') });
  const keys = {
    slurmKeyRef: { name: 'keys', key: 'slurm.key' },
    jwtKeyRef: { name: 'keys', key: 'jwt.key' },
  };
  await create(accountings, 'slurm', {
    spec: {
      ...keys,
      ...withImage('slurmdbd'),
      storageConfig: {
        host: 'mariadb',
        username: 'slurm',
        passwordKeyRef: { name: 'mariadb', key: 'password' },
      },
    },
  });
  await create(controllers, 'slurm', {
    spec: {
      ...keys,
      ...withImage('slurmctld'),
      clusterName: 'test',
      accountingRef: { name: 'slurm' },
      configFileRefs: [{ name: 'cgroup' }],
      extraConf: [
        'ProctrackType=proctrack/linuxproc',
        'TaskPlugin=task/none',
        'SlurmdParameters=config_overrides',
        'SchedulerParameters=batch_sched_delay=0,sched_interval=1',
      ].join('\n'),
    },
  });
  await create(restApis, 'slurm', { spec: { controllerRef: { name: 'slurm' }, ...withImage('slurmrestd') } });
  await create(tokens, 'alice', { spec: { username: 'alice', jwtKeyRef: keys.jwtKeyRef } });
  await create(loginSets, 'login', {
    spec: {
      controllerRef: { name: 'slurm' },
      ...withImage('login'),
      sssdConfRef: { name: 'sssd', key: 'sssd.conf' },
    },
  });
  await create(nodeSets, 'compute', {
    spec: {
      controllerRef: { name: 'slurm' },
      ...withImage('slurmd'),
      replicas: 2,
      partition: { enabled: true, config: 'Default=YES State=UP' },
    },
  });
  await ready(accountings, 'slurm');
  await ready(controllers, 'slurm');
  await ready(restApis, 'slurm');
  await ready(tokens, 'alice');
  await ready(loginSets, 'login');
  await ready(clusters, 'slurm');
  await ready(nodeSets, 'compute');
});

it('scontrol ping, sinfo and sacctmgr answer', async () => {
  const ctld = (...command: string[]) => run('slurm-controller-0', 'slurmctld', command);
  assert.match(await ctld('scontrol', 'ping'), /is UP/);
  assert.match(await ctld('sinfo', '--noheader', '--format=%T'), /idle/);
  await eventually('the cluster in accounting', async () =>
    (await ctld('sacctmgr', '--noheader', 'show', 'cluster', 'format=cluster')).includes('test'),
  );
});

it('a user of the directory runs a job from the login node', async () => {
  const login = await podOf('login');
  const output = await eventually('srun as alice', async () => {
    const text = await run(login, 'login', [
      'setpriv',
      '--reuid=alice',
      '--regid=5001',
      '--clear-groups',
      'srun',
      '--chdir=/tmp',
      'hostname',
    ]);
    return text.includes('compute-') && text;
  });
  assert.match(output, /compute-[01]/);
});

it('a changed configuration is in effect within seconds, with no restart', async () => {
  const pod = await stage.client.get(pods, { namespace, name: 'slurm-controller-0' });
  const { spec } = await stage.client.get(controllers, { namespace, name: 'slurm' });
  const began = Date.now();
  await stage.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { extraConf: `${spec.extraConf}\nMessageTimeout=33` } },
  );
  await eventually('the new value', async () =>
    /MessageTimeout\s+= 33/.test(
      await run('slurm-controller-0', 'slurmctld', ['scontrol', 'show', 'config']),
    ),
  );
  const seconds = (Date.now() - began) / 1000;
  const later = await stage.client.get(pods, { namespace, name: 'slurm-controller-0' });
  assert.equal(later.metadata.uid, pod.metadata.uid);
  assert.equal(later.status?.containerStatuses?.[0]?.restartCount, 0);
  console.log(`in effect after ${seconds.toFixed(1)} s`);
});

const broken: Record<string, { readonly lines: string; readonly says: RegExp }> = {
  'an unknown key': { lines: 'NoSuchKey=1', says: /NoSuchKey|configuration file/i },
  'a partition of unknown nodes': { lines: 'PartitionName=bad Nodes=nowhere', says: /node/i },
  'a partition twice': { lines: 'PartitionName=compute Nodes=ALL', says: /compute/i },
};

for (const [name, { lines, says }] of Object.entries(broken))
  it(`${name} never reaches slurmctld, and the condition says why`, async () => {
    const { spec } = await stage.client.get(controllers, { namespace, name: 'slurm' });
    const good = spec.extraConf;
    await stage.client.mergePatch(
      controllers,
      { namespace, name: 'slurm' },
      { spec: { extraConf: `${good}\n${lines}` } },
    );
    const told = await eventually('the rejection', async () => {
      const found = await conditionOf(controllers, 'slurm', conditionType.configApplied);
      return found?.reason === 'ConfigRejected' && found;
    });
    assert.match(told.message, says);
    assert.equal((await conditionOf(controllers, 'slurm', conditionType.ready))?.status, 'True');
    assert.match(await run('slurm-controller-0', 'slurmctld', ['scontrol', 'ping']), /is UP/);
    await stage.client.mergePatch(controllers, { namespace, name: 'slurm' }, { spec: { extraConf: good } });
    await eventually(
      'the good configuration',
      async () => (await conditionOf(controllers, 'slurm', conditionType.configApplied))?.status === 'True',
    );
    const pod = await stage.client.get(pods, { namespace, name: 'slurm-controller-0' });
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
  });

it('a dead slurmrestd is told, and healed from without help', async () => {
  await stage.client.mergePatch(restApis, { namespace, name: 'slurm' }, { spec: { replicas: 0 } });
  const told = await eventually('the truth about the connection', async () => {
    const found = await conditionOf(clusters, 'slurm', conditionType.slurmConnected);
    return found?.status === 'False' && found;
  });
  assert.match(told.reason, /Connection(Refused|Timeout)|SlurmError/);
  await stage.client.mergePatch(restApis, { namespace, name: 'slurm' }, { spec: { replicas: 1 } });
  await ready(clusters, 'slurm');
});

it('an operator that is killed comes back and changes nothing', async () => {
  const before = await stage.client.list(pods, { namespace });
  const requests = () => stage.cluster.server.audit.count({ user: operatorUser });
  const count = requests();
  await stage.operator.kill();
  stage.operator.start();
  await eventually('the operator at work again', async () => requests() > count + 10);
  await ready(clusters, 'slurm');
  const later = await stage.client.list(pods, { namespace });
  const uids = (list: typeof before) => list.items.map(({ metadata }) => metadata.uid).toSorted();
  assert.deepEqual(uids(later), uids(before));
});
