/**
 * Pages of docs/how-to, walked as a person would: their blocks, read from the pages themselves, applied with kubectl to one running cluster.
 * What is edited, and only that: addresses, sizes, names that would meet, and what Slurm needs on one small machine.
 */
import assert from 'node:assert/strict';
import { after, before as beforeAll, describe, it } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { password } from '@slurm-operator/images/testing';
import { accountings, clusters, controllers, loginSets, nodeSets } from '@slurm-operator/operator';
import { givenRegistry, needsCluster, needsThisMachine } from './src/given/given-cluster.ts';
import { HowToStage, namespace } from './src/how-to/how-to-stage.ts';
import { blocks, type Manifest, manifests } from './src/how-to/page.ts';
import { claim, directory, small } from './src/how-to/prerequisites.ts';
import { until } from './src/until.ts';

const set = (object: Manifest, fields: object) => Object.assign((object.spec ??= {}), fields);
const nodeSet = 'nodeset.slinky.slurm.net';

describe('the pages of docs/how-to on a running cluster', {
  ...(givenRegistry === ''
    ? needsCluster(4)
    : needsThisMachine('the pages name images that must be on the nodes, not in a registry')),
  concurrency: false,
  timeout: 1_800_000,
}, () => {
  let stage: HowToStage;
  beforeAll(async () => {
    stage = await HowToStage.open(`e2e-how-to-${process.pid}`);
  });
  after(() => stage?.[Symbol.asyncDispose]());

  const submit = (name: string, script: string, ...more: string[]) =>
    stage.slurmctld(
      'sbatch',
      '--parsable',
      '--chdir=/tmp',
      '--output=/dev/null',
      `--job-name=${name}`,
      ...more,
      `--wrap=${script}`,
    );
  const untilConfig = (line: RegExp) =>
    until(`Slurm is configured with ${line}`, async () =>
      line.test(await stage.slurmctld('scontrol', 'show', 'config')),
    );

  it('install: a cluster without helm', async () => {
    const keys = blocks('install', 'console').find((block) => block.includes('secret generic slurm-keys'));
    await stage.paste((keys ?? '').replace(/^\$ /, ''));
    await stage.apply(manifests('install', 0, { Controller: small }));
    await stage.ready(controllers, 'slurm');
    await stage.ready(nodeSets, 'compute');
    await until('both workers', async () =>
      /^compute\* 2 idle$/m.test(await stage.slurmctld('sinfo', '--noheader', '--format=%P %D %T')),
    );
  });

  it('accounting: added under running jobs it becomes Ready, and no job is missing from it', async () => {
    await stage.mariadb('change-me');
    await submit('ended', 'true');
    await submit('runs', 'sleep 12', '--exclusive', '--nodes=2');
    await submit('waits', 'true', '--exclusive', '--nodes=2');
    const queue = ['squeue', '--noheader', '--states=all', '--sort=i', '--format=%i %T'];
    await until('one job has ended and another has begun', async () =>
      /^1 COMPLETED\n2 (?!PENDING)/.test(await stage.slurmctld(...queue)),
    );
    const before = [await stage.pods('slurmd'), await stage.pods('slurmctld')];
    await stage.apply(manifests('how-to/accounting', 0, { Controller: small }));
    await stage.ready(accountings, 'slurm');
    await stage.told(controllers, 'slurm', conditionType.configApplied, 'Applied');
    await submit('after', 'true');
    const sacct = [
      'sacct',
      '--allusers',
      '--allocations',
      '--noheader',
      '--format=JobID%4,JobName%8,State%10',
    ];
    await until('every job is in accounting', async () => {
      const lines = (await stage.slurmctld(...sacct)).trim().split('\n');
      const records = lines.map((line) => line.trim().replaceAll(/\s+/g, ' '));
      const expected = ['1 ended', '2 runs', '3 waits', '4 after'].map((job) => `${job} COMPLETED`);
      assert.deepEqual(records, expected);
      return true;
    });
    assert.deepEqual(
      [await stage.pods('slurmd'), await stage.pods('slurmctld')],
      before,
      'no worker was replaced for it, and no slurmctld',
    );
  });

  it('autoscaling: nodes sleep, a job of two wakes them at once, and they sleep again', async (t) => {
    const limits = { cpu: '1', memory: '600Mi' };
    await stage.apply(
      manifests('how-to/autoscaling', 0, {
        NodeSet: (workers) => {
          workers.metadata.name = 'scaled';
          const autoscale = { ...(workers.spec?.['autoscale'] as object), max: 2, idleAfter: '5s' };
          set(workers, { autoscale, slurmd: { resources: { limits } } });
        },
      }),
    );
    const sinfo = () => stage.slurmctld('sinfo', '--noheader', '--partition=scaled', '--format=%D %t');
    await until('sinfo shows nodes that sleep', async () => (await sinfo()).trim() === '2 idle~');
    await stage.told(nodeSets, 'scaled', conditionType.ready, 'ScaledToZero');
    await untilConfig(/PrologSlurmctld\[?\d*\]?\s+= \/etc\/slurm\/\.wait-for-nodes/);
    const began = Date.now();
    const job = (
      await submit('cold', 'sleep 2', '--partition=scaled', '--nodes=2', '--time=5', '--wait')
    ).trim();
    t.diagnostic(`from sbatch to the end of a job of 2 s: ${(Date.now() - began) / 1000} s`);
    const shown = await stage.slurmctld('scontrol', 'show', 'job', job);
    assert.match(shown, /Restarts=0 [\s\S]*NodeList=scaled-\[0-1\]/);
    // The job did not wait for the check that slurmctld makes every 30 s.
    const log = await stage.kubectl('logs', 'slurm-controller-0', '--container=slurmctld');
    assert.match(log, new RegExp(`prolog_running_decr: Configuration for JobId=${job} is complete`));
    await until('both sleep again', async () => (await sinfo()).trim() === '2 idle~');
    assert.equal((await stage.pods('slurmd', 'scaled')).size, 0);
    await stage.remove(nodeSet, 'scaled');
  });

  it('scripts: those that are added under running workers run there', async () => {
    const before = await stage.pods('slurmd');
    await stage.apply(
      manifests('how-to/scripts', 0, {
        Controller: (object) => set(small(object), { accountingRef: { name: 'slurm' } }),
      }),
    );
    await untilConfig(/JobSubmitPlugins\s+= lua/);
    for (const worker of before.keys())
      await until(`${worker} has the prolog`, async () =>
        (await stage.inWorker(worker, 'ls /run/slurm/conf')).includes('prolog-10-scratch.sh'),
      );
    await assert.rejects(submit('endless', 'true'), /please give a time limit/);
    const job = await submit('limited', 'test -d /scratch/$SLURM_JOB_ID', '--time=5', '--wait');
    assert.match(job, /^\d+\n/);
    assert.deepEqual(await stage.pods('slurmd'), before, 'no worker was replaced for it');
    await stage.remove(nodeSet, 'compute');
  });

  it('login: a person of the directory comes with her key, and to a worker only with a job there', async () => {
    await stage.apply(directory(stage.key.publicKey));
    await stage.kubectl('rollout', 'status', 'deploy/ldap', '--timeout=4m');
    const settings = [
      // No TLS to a directory that lives for a minute.
      'ldap_id_use_start_tls = false',
      'ldap_auth_disable_tls_never_use_in_production = true',
      'ldap_user_ssh_public_key = description',
    ];
    await stage.apply(
      manifests('how-to/login', 0, {
        Secret: (secret) => {
          const text = secret.stringData?.['sssd.conf'] ?? '';
          const here = text.replace('ldaps://ldap.example.com', `ldap://ldap.${namespace}.svc`);
          assert.notEqual(here, text);
          secret.stringData = { 'sssd.conf': `${here}${settings.join('\n')}\n` };
        },
        LoginSet: (login) => set(login, { replicas: 1 }),
      }),
    );
    const partition = { enabled: true, config: 'Default=YES' };
    await stage.apply(manifests('how-to/login', 1, { NodeSet: (workers) => set(workers, { partition }) }));
    await stage.ready(nodeSets, 'compute');
    await stage.ready(loginSets, 'login');
    await untilConfig(/PrologFlags\s+= \S*Contain/);
    const { port: loginPort, ...loginHost } = await stage.sshTo('service', 'login');
    const { port: workerPort, ...workerHost } = await stage.sshTo('pod', 'compute-0');
    const login = { user: 'alice', ...loginHost };
    const worker = { user: 'alice', ...workerHost, password };
    const { stdout: name } = await until('a key lets her in', () =>
      stage.key.run(loginPort, 'id -un', login),
    );
    assert.equal(name, 'alice\n');
    const visit = () => stage.key.run(workerPort, 'echo "in job $SLURM_JOB_ID"', worker);
    await until('she is refused without a job', async () => {
      await assert.rejects(visit(), /you have no active jobs on this node/);
      return true;
    });
    // A worker that started while the line came may have missed it, and is told a minute later.
    await until('compute-0 has the line', async () =>
      (await stage.inWorker('compute-0', 'cat /run/slurm/conf/slurm.conf')).includes('PrologFlags=Contain'),
    );
    const options = '--parsable --time=15 --nodelist=compute-0 --output=/dev/null';
    const sbatch = `cd /tmp && sbatch ${options} --wrap "sleep 600"`;
    const job = (await stage.key.run(loginPort, sbatch, login)).stdout.trim();
    const { stdout: adopted } = await until('a job lets her in', visit);
    assert.equal(adopted, `in job ${job}\n`);
    await stage.slurmctld('scancel', job);
    await stage.remove(nodeSet, 'compute');
  });

  it('storage: a worker that is replaced finds its data, and claims go as the page says', async () => {
    await stage.apply(manifests('how-to/storage', 0));
    await stage.told(nodeSets, 'compute', conditionType.ready, 'PodsUnschedulable');
    await stage.apply(claim('home', 'ReadWriteMany'));
    await stage.ready(nodeSets, 'compute');
    const workers = ['compute-0', 'compute-1'];
    for (const worker of workers)
      await stage.inWorker(worker, `echo ${worker} > /scratch/who && touch /home/${worker}`);
    assert.equal(await stage.inWorker('compute-1', 'ls /home'), 'compute-0\ncompute-1\n');
    const before = await stage.pods('slurmd', 'compute');
    await stage.makeRevision('compute');
    await until('both are new', async () => {
      const now = await stage.pods('slurmd', 'compute');
      return workers.every((worker) => now.has(worker) && now.get(worker) !== before.get(worker));
    });
    await stage.ready(nodeSets, 'compute');
    for (const worker of workers)
      assert.equal(await stage.inWorker(worker, 'cat /scratch/who'), `${worker}\n`);
    const scratch = async () => (await stage.claims()).filter((name) => name.startsWith('scratch-')).join();
    await stage.kubectl('scale', nodeSet, 'compute', '--replicas=1');
    await until('whenScaled: Delete', async () => (await scratch()) === 'scratch-compute-0');
    await stage.remove(nodeSet, 'compute');
    assert.equal(await scratch(), 'scratch-compute-0', 'whenDeleted: Retain');
  });

  it('rollouts: below the partition nothing changes; a window makes a reservation and waits', async () => {
    // Half the size, because of the machine.
    const half = (workers: Manifest) => {
      assert.equal(workers.spec?.['replicas'], 8);
      const strategy = workers.spec['updateStrategy'] as { rollingUpdate?: { partition: number } };
      if (strategy.rollingUpdate !== undefined) strategy.rollingUpdate.partition /= 2;
      set(workers, { replicas: 4 });
    };
    await stage.apply(manifests('how-to/rollouts', 0, { NodeSet: half }));
    await stage.ready(nodeSets, 'compute');
    const before = await stage.pods('slurmd', 'compute');
    await stage.makeRevision('compute');
    const onlyLastIsNew = async () => {
      const now = await stage.pods('slurmd', 'compute');
      assert.deepEqual([...now.keys()], [...before.keys()]);
      const changed = [...now.keys()].filter((name) => now.get(name) !== before.get(name));
      assert.deepEqual(changed, ['compute-3']);
      return true;
    };
    await until('only compute-3 is new', onlyLastIsNew);
    await stage.ready(nodeSets, 'compute');
    await stage.apply(manifests('how-to/rollouts', 1, { NodeSet: half }));
    await stage.told(nodeSets, 'compute', 'ReservationCreated', 'Created');
    await stage.told(nodeSets, 'compute', conditionType.progressing, 'WaitingForWindow');
    const reservation = await stage.slurmctld(
      'scontrol',
      'show',
      'reservation',
      'SlurmOperatorMaint-compute',
    );
    assert.match(reservation, /StartTime=2030-01-31T22:00:00 .*Duration=02:00:00/);
    assert.match(reservation, /Nodes=compute-\[0-3\] .*Flags=MAINT,IGNORE_JOBS,WEEKLY/s);
    await onlyLastIsNew();
    await stage.remove(nodeSet, 'compute');
  });

  it('topology: machines get their place, and a partition uses it', async (t) => {
    const [, , workers = ''] = manifests('install', 0).split('---\n');
    await stage.apply(workers);
    await stage.ready(nodeSets, 'compute');
    const controller = (object: Manifest) => set(small(object), { accountingRef: { name: 'slurm' } });
    await stage.apply(manifests('how-to/topology', 0, { Controller: controller }));
    // The file is new to slurmctld, which therefore gets a pod that has it.
    await until('slurmctld has the file', () => stage.slurmctld('cat', '/etc/slurm/topology.yaml'));
    await stage.ready(controllers, 'slurm');
    const jobs = ['srun', '--chdir=/tmp', '--nodes=2', 'hostname'];
    const hosts = async () => (await stage.slurmctld(...jobs)).trim().split('\n').toSorted();
    assert.deepEqual(await until('nothing is stopped by it', hosts), ['compute-0', 'compute-1']);
    const [place = ''] = blocks('how-to/topology', 'sh');
    const machines = await stage.machines('compute');
    const removePlaces = async () => {
      for (const machine of machines)
        await stage.kubectl('annotate', 'node', machine, 'topology.slinky.slurm.net/spec-');
    };
    // Nodes outlive the stage on a given cluster: their annotations are removed after a failure, too.
    t.after(removePlaces);
    for (const machine of machines) await stage.paste(place.replace('machine-7', machine));
    for (const node of ['compute-0', 'compute-1'])
      await until(`${node} has its place`, async () =>
        (await stage.slurmctld('scontrol', 'show', 'node', node)).includes('Topology=topo-switch:s2'),
      );
    await stage.apply(manifests('how-to/topology', 1));
    await until('the partition uses it', async () =>
      (await stage.slurmctld('scontrol', 'show', 'partition', 'compute')).includes('Topology=topo-switch'),
    );
    assert.deepEqual(await until('both are in it', hosts), ['compute-0', 'compute-1']);
    // The tests that follow know no topology.
    await removePlaces();
    await stage.remove(nodeSet, 'compute');
  });

  it('gpus: reports a worker without its GPUs', {
    ...needsThisMachine('needs nodes that claim to have GPUs'),
  }, async () => {
    const [files = '', controller = '', workers = ''] = manifests('how-to/gpus', 0, {
      Controller: (object) => set(small(object), { accountingRef: { name: 'slurm' } }),
      NodeSet: (object) => {
        assert.equal(object.spec?.['extraConf'], 'Gres=gpu:h200:8');
        const limits = { 'nvidia.com/gpu': 2 };
        set(object, { replicas: 1, extraConf: 'Gres=gpu:h200:2', slurmd: { resources: { limits } } });
      },
    }).split('---\n');
    const applied = () =>
      stage.kubectl(
        'wait',
        '--for=condition=ConfigApplied',
        '--timeout=4m',
        'controller.slinky.slurm.net/slurm',
      );
    // In the order that the page requires on a running cluster.
    await stage.apply(files);
    await stage.apply(controller);
    await applied();
    await untilConfig(/GresTypes\s+= gpu/);
    await stage.apply(workers);
    await stage.told(nodeSets, 'gpu', conditionType.degraded, 'ResourcesMismatch');
    await until('Slurm says so, too', async () =>
      (await stage.slurmctld('sinfo', '--list-reasons')).includes('gres/gpu count repor'),
    );
    await stage.remove(nodeSet, 'gpu');
  });

  it('external: a Slurm elsewhere is looked at, and gets workers from here', async () => {
    const token = (await stage.slurmctld('scontrol', 'token', 'username=slurm', 'lifespan=86400')).trim();
    const elsewhere = 'hybrid';
    await stage.namespace(elsewhere);
    await stage.apply(
      manifests('how-to/external', 0, {
        Secret: (secret) => (secret.stringData = { SLURM_JWT: token.replace('SLURM_JWT=', '') }),
        Cluster: (cluster) => {
          delete cluster.spec?.['caConfigMapRef'];
          set(cluster, { server: `http://slurm-restapi.${namespace}:6820` });
        },
      }),
      elsewhere,
    );
    await stage.ready(clusters, 'elsewhere', elsewhere);
    await stage.copySecret('slurm-keys', elsewhere);
    const { status } = await stage.client.get(controllers, { namespace, name: 'slurm' });
    const externalConfig = { host: `slurm-controller-0.${namespace}`, port: 6817 };
    await stage.apply(
      manifests('how-to/external', 1, {
        Controller: (controller) => set(controller, { externalConfig, clusterName: status?.clusterName }),
        NodeSet: (workers) => set(workers, { replicas: 2 }),
      }),
      elsewhere,
    );
    await stage.ready(controllers, 'slurm', elsewhere);
    await stage.ready(nodeSets, 'cloud', elsewhere);
    const srun = ['srun', '--chdir=/tmp', '--partition=cloud', '--nodes=2', 'hostname'];
    const hosts = await until('a job over there runs here', () => stage.slurmctld(...srun));
    assert.deepEqual(hosts.trim().split('\n').toSorted(), ['cloud-0', 'cloud-1']);
  });
});
