/** The control plane with real daemons on a local cluster: everything Ready, everything answers, every fault is told. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
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
import { type LocalOperator, startLocalOperator } from '../testing/local-operator.ts';
import { accountings, clusters, controllers, loginSets, nodeSets, restApis, tokens } from './resources.ts';

const version = process.env['SLURM_VERSION'] === '24.11' ? '24.11' : '26.05';
const namespace = 'slurm';
let world: LocalOperator;

before(async () => {
  world = await startLocalOperator({
    name: 'opcp',
    version,
    images: [(await buildImage('mariadb')).path, (await buildImage('ldap')).path],
  });
});
after(() => world.stop());

const create = <T extends KubeObject>(resource: Resource<T>, name: string, rest: object) =>
  world.client.create(resource, {
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
  const object = await world.client.get(resource, { namespace, name });
  const { status } = object as unknown as { status?: { conditions?: never[] } };
  return findCondition(status?.conditions, type);
};

const ready = <T extends KubeObject>(resource: Resource<T>, name: string, seconds = 120) =>
  world.eventually(
    `${resource.kind} ${name} to be Ready`,
    async () => {
      const found = await conditionOf(resource, name, conditionType.ready);
      if (found?.status === 'True') return found;
      throw new Error(found?.message ?? 'it says nothing');
    },
    seconds,
  );

const run = async (pod: string, container: string, command: string[]) => {
  const { exitCode, stdout, stderr } = await exec(world.client, { namespace, name: pod }, command, {
    container,
    timeout: 30_000,
  });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${exitCode}: ${stderr}`);
  return stdout;
};

const podOf = async (name: string) => {
  const list = await world.client.list(pods, { namespace, labelSelector: `app.kubernetes.io/name=${name}` });
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

const sssdConf = `[sssd]
services = nss, pam
domains = example
[domain/example]
id_provider = ldap
auth_provider = ldap
ldap_uri = ldap://ldap.slurm:1389
ldap_search_base = dc=example,dc=org
ldap_auth_disable_tls_never_use_in_production = true
`;

test('the six kinds of the control plane become Ready, with workers that NodeSet makes', async () => {
  await secret('slurm-auth', { 'slurm.key': randomBytes(64) });
  await secret('slurm-jwt', { 'jwt.key': randomBytes(64) });
  await secret('mariadb', { password: 'a pass#word\\' });
  await secret('sssd', { 'sssd.conf': sssdConf });
  await create(configMaps, 'people', { data: { 'people.ldif': people } });
  await create(configMaps, 'extra', { data: { 'cgroup.conf': 'CgroupPlugin=disabled\n' } });
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
  const keys = {
    slurmKeyRef: { name: 'slurm-auth', key: 'slurm.key' },
    jwtKeyRef: { name: 'slurm-jwt', key: 'jwt.key' },
  };
  await create(accountings, 'slurm', {
    spec: {
      ...keys,
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
      clusterName: 'test',
      accountingRef: { name: 'slurm' },
      configFileRefs: [{ name: 'extra' }],
      extraConf: [
        'ProctrackType=proctrack/linuxproc',
        'TaskPlugin=task/none',
        'SlurmdParameters=config_overrides',
        'SchedulerParameters=batch_sched_delay=0,sched_interval=1',
      ].join('\n'),
    },
  });
  await create(restApis, 'slurm', { spec: { controllerRef: { name: 'slurm' } } });
  await create(tokens, 'alice', { spec: { username: 'alice', jwtKeyRef: keys.jwtKeyRef } });
  await create(loginSets, 'login', {
    spec: { controllerRef: { name: 'slurm' }, sssdConfRef: { name: 'sssd', key: 'sssd.conf' } },
  });
  await create(nodeSets, 'compute', {
    spec: {
      controllerRef: { name: 'slurm' },
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

test('scontrol ping, sinfo and sacctmgr answer', async () => {
  const ctld = (...command: string[]) => run('slurm-controller-0', 'slurmctld', command);
  assert.match(await ctld('scontrol', 'ping'), /is UP/);
  assert.match(await ctld('sinfo', '--noheader', '--format=%T'), /idle/);
  await world.eventually('the cluster in accounting', async () =>
    (await ctld('sacctmgr', '--noheader', 'show', 'cluster', 'format=cluster')).includes('test'),
  );
});

test('a user of the directory runs a job from the login node', async () => {
  const login = await podOf('login');
  const output = await world.eventually('srun as alice', async () => {
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

test('a changed configuration is in effect within seconds, with no restart', async () => {
  const pod = await world.client.get(pods, { namespace, name: 'slurm-controller-0' });
  const { spec } = await world.client.get(controllers, { namespace, name: 'slurm' });
  const began = Date.now();
  await world.client.mergePatch(
    controllers,
    { namespace, name: 'slurm' },
    { spec: { extraConf: `${spec.extraConf}\nMessageTimeout=33` } },
  );
  await world.eventually('the new value', async () =>
    /MessageTimeout\s+= 33/.test(
      await run('slurm-controller-0', 'slurmctld', ['scontrol', 'show', 'config']),
    ),
  );
  const seconds = (Date.now() - began) / 1000;
  const later = await world.client.get(pods, { namespace, name: 'slurm-controller-0' });
  assert.equal(later.metadata.uid, pod.metadata.uid);
  assert.equal(later.status?.containerStatuses?.[0]?.restartCount, 0);
  console.log(`in effect after ${seconds.toFixed(1)} s`);
});

test('a dead slurmrestd is told, and healed from without help', async () => {
  await world.client.mergePatch(restApis, { namespace, name: 'slurm' }, { spec: { replicas: 0 } });
  const told = await world.eventually('the truth about the connection', async () => {
    const found = await conditionOf(clusters, 'slurm', conditionType.slurmConnected);
    return found?.status === 'False' && found;
  });
  assert.match(told.reason, /Connection(Refused|Timeout)|SlurmError/);
  await world.client.mergePatch(restApis, { namespace, name: 'slurm' }, { spec: { replicas: 1 } });
  await ready(clusters, 'slurm');
});

test('an operator that is killed comes back and changes nothing', async () => {
  const before = await world.client.list(pods, { namespace });
  await world.crash();
  await ready(clusters, 'slurm');
  const later = await world.client.list(pods, { namespace });
  const uids = (list: typeof before) => list.items.map(({ metadata }) => metadata.uid).toSorted();
  assert.deepEqual(uids(later), uids(before));
});
