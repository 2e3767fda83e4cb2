/**
 * Makes rules of doctor happen on a running demo, with real daemons behind it: each provokes something, waits until doctor names the rule,
 * and undoes it. Returns the rules that were found, and what went wrong with the others.
 */
import assert from 'node:assert/strict';
import { apiVersion } from '@slurm-operator/api';
import { type Client, configMaps, deployments, namespaces, nodes, secrets } from '@slurm-operator/kube';
import { controllers, loginSets, nodeSets, restApis, tokens } from '@slurm-operator/operator';
import { runCommand } from '@slurm-operator/sandbox';
import { until } from './until.ts';
import { withPodSpec } from './with-pod-spec.ts';

const namespace = 'slurm-demo';
const operatorNamespace = 'slurm-demo-operator';

export interface ProvokeOptions {
  readonly client: Client;
  readonly kubeconfig: string;
  readonly plugin: string;
}

export interface Provoked {
  readonly found: readonly string[];
  readonly failed: readonly string[];
}

export async function provokeRules({ client, kubeconfig, plugin }: ProvokeOptions): Promise<Provoked> {
  const run = (...words: readonly string[]) =>
    runCommand([process.execPath, plugin, '-n', namespace, ...words], {
      env: { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1' },
      allowFailure: true,
      timeoutMs: 120_000,
    });
  const good = async (...words: readonly string[]) => {
    const { exitCode, stdout, stderr } = await run(...words);
    assert.equal(exitCode, 0, `${words.join(' ')}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  /** With sbatch: `kubectl slurm submit` does not know every option of it. The last -p counts. */
  const submit = (options: string, script = 'sleep 900') =>
    good(
      'exec',
      'slurmctld',
      '--',
      'sbatch',
      '--parsable',
      '--partition=short',
      '--time=30',
      '--chdir=/tmp',
      ...options.split(' ').filter((option) => option !== ''),
      `--wrap=${script}`,
    );
  const found = new Set<string>();
  const failed: string[] = [];
  const finds = async (rule: string, ...words: readonly string[]) => {
    await until(
      `doctor finds ${rule}`,
      async () => {
        const { stdout } = await run('doctor', ...words, '-o', 'json');
        if (!stdout.startsWith('{')) return false;
        const { findings } = JSON.parse(stdout) as { findings: readonly Found[] };
        return flat(findings).some((each) => each.rule === rule);
      },
      { seconds: 120, everyMs: 500 },
    );
    found.add(rule);
  };
  const provoke = async (rules: string, act: (undo: AsyncDisposableStack) => Promise<void>) => {
    const undo = new AsyncDisposableStack();
    try {
      await act(undo);
    } catch (error) {
      failed.push(`${rules}: ${error instanceof Error ? error.message : String(error)}`);
    }
    await undo.disposeAsync().catch((error: unknown) => {
      failed.push(`undoing ${rules}: ${String(error)}`);
    });
  };
  const cancelled = (undo: AsyncDisposableStack, id: string) => {
    undo.defer(async () => void (await run('cancel', id)));
    return id;
  };

  await provoke('F1 F2', async (undo) => {
    cancelled(undo, await submit('-w short-0 --exclusive'));
    cancelled(undo, await submit('-w short-1 --exclusive'));
    const first = cancelled(undo, await submit('-N 2 --exclusive'));
    const second = cancelled(undo, await submit('-N 2 --exclusive --nice=100'));
    await finds('F2', `job/${first}`);
    await finds('F1', `job/${second}`);
  });
  await provoke('F5 F25', async (undo) => {
    const all = 'short-[0-1],long-0';
    await good('drain', all, '--reason', 'all away');
    undo.defer(async () => void (await good('resume', all)));
    const id = cancelled(undo, await submit('-w short-0'));
    await finds('F5', `job/${id}`);
    await finds('F25');
  });
  await provoke('F18', async (undo) => {
    const [controller] = (await client.list(controllers, { namespace })).items;
    const { metadata, spec } = controller ?? assert.fail('no Controller');
    const configure = (extraConf: string) =>
      client.mergePatch(controllers, metadata, { spec: { extraConf } });
    const before = spec.extraConf ?? '';
    await configure(`${before}\nLicenses=matlab:1\n`);
    undo.defer(async () => {
      await configure(before);
      await until(
        'slurmctld has no license',
        async () => !(await good('scontrol', 'show', 'licenses')).includes('matlab'),
      );
    });
    await until('slurmctld has a license', async () =>
      (await good('scontrol', 'show', 'licenses')).includes('matlab'),
    );
    cancelled(undo, await submit('--licenses=matlab:1'));
    await finds('F18', `job/${cancelled(undo, await submit('--licenses=matlab:1'))}`);
  });
  await provoke('F8', async (undo) => {
    await good('scontrol', 'update', 'partitionname=short', 'state=down');
    undo.defer(async () => void (await good('scontrol', 'update', 'partitionname=short', 'state=up')));
    const id = cancelled(undo, await submit(''));
    await finds('F8', `job/${id}`);
  });
  await provoke('F12 F23', async (undo) => {
    const bad = await submit('--job-name=bad', 'exit 3');
    const id = cancelled(undo, await submit(`--dependency=afterok:${bad}`));
    await finds('F23', `job/${bad}`);
    await finds('F12', `job/${id}`);
  });
  await provoke('F16', async (undo) => {
    await finds('F16', `job/${cancelled(undo, await submit('--begin=now+2hours'))}`);
  });
  await provoke('F6 E9', async (undo) => {
    const later =
      'create reservation reservationname=later starttime=now+120minutes duration=60 users=root nodes=short-0';
    await good('scontrol', ...later.split(' '));
    undo.defer(async () => void (await good('scontrol', 'delete', 'reservationname=later')));
    await finds('F6', `job/${cancelled(undo, await submit('--reservation=later'))}`);
    const now =
      'create reservation reservationname=maint starttime=now duration=60 users=root flags=maint nodes=short-1';
    await good('scontrol', ...now.split(' '));
    undo.defer(async () => void (await good('scontrol', 'delete', 'reservationname=maint')));
    await finds('E9', 'node/short-1');
  });
  await provoke('E14', async (undo) => {
    await good('scontrol', 'update', 'nodename=short-1', 'state=down', 'reason=broken');
    undo.defer(async () => void (await good('resume', 'short-1')));
    await finds('E14', 'node/short-1');
  });
  await provoke('G2', async (undo) => {
    const id = cancelled(undo, await submit('-p long -w long-0 --time=UNLIMITED'));
    await until('it runs', async () => (await good('job', id)).includes('RUNNING'));
    await restart(client, 'slurm-worker-long');
    await finds('G2');
  });
  await provoke('G5', async (undo) => {
    await good('rollout', 'pause', 'slurm-worker-short');
    undo.defer(async () => void (await good('rollout', 'resume', 'slurm-worker-short')));
    await restart(client, 'slurm-worker-short');
    await finds('G5');
  });
  await provoke('E1 G1', async (undo) => {
    const id = cancelled(undo, await submit('-p long -w long-0 --time=30'));
    await until('it runs', async () => (await good('job', id)).includes('RUNNING'));
    await restart(client, 'slurm-worker-long');
    await finds('G1');
    await finds('E1', 'node/long-0');
  });
  await provoke('G7', async (undo) => {
    const strategy = (type: string) =>
      client.mergePatch(
        nodeSets,
        { namespace, name: 'slurm-worker-short' },
        { spec: { updateStrategy: { type } } },
      );
    await strategy('OnDelete');
    undo.defer(async () => void (await strategy('RollingUpdate')));
    await restart(client, 'slurm-worker-short');
    await finds('G7');
  });
  await provoke('E16', async (undo) => {
    await good('scontrol', 'update', 'nodename=short-1', 'state=fail', 'reason=memory');
    undo.defer(async () => void (await good('scontrol', 'update', 'nodename=short-1', 'state=resume')));
    await finds('E16', 'node/short-1');
  });
  await provoke('G10 F4', async (undo) => {
    const scale = (replicas: number) =>
      client.mergePatch(nodeSets, { namespace, name: 'slurm-worker-long' }, { spec: { replicas } });
    await scale(0);
    undo.defer(async () => void (await scale(1)));
    await until('no worker is left', async () => !(await good('nodes')).includes('long-0'));
    const id = cancelled(undo, await submit('-p long'));
    await finds('G10');
    await finds('F4', `job/${id}`);
  });
  const added = async (
    undo: AsyncDisposableStack,
    name: string,
    change: { readonly template?: object; readonly spec?: object; readonly replicas?: number },
  ) => {
    const at = { namespace, name };
    const { spec } = await client.get(nodeSets, { namespace, name: 'slurm-worker-long' });
    await client.create(nodeSets, {
      apiVersion,
      kind: 'NodeSet',
      metadata: at,
      spec: {
        ...spec,
        replicas: change.replicas ?? 1,
        partition: { enabled: false },
        template: withPodSpec(spec.template, { hostname: `${name}-`, ...change.template }),
        ...change.spec,
      },
    } as never); // defaults that the type asks for are set by the server
    undo.defer(async () => {
      await client.delete(nodeSets, at);
      await until(`${name} is gone`, async () => (await client.find(nodeSets, at)) === undefined);
    });
  };
  await provoke('D16', async (undo) => {
    await added(undo, 'mounts', {
      template: { volumes: [{ name: 'key', secret: { secretName: 'no-such-secret' } }] },
    });
    await finds('D16');
  });
  await provoke('D19', async (undo) => {
    const [set] = (await client.list(loginSets, { namespace })).items;
    const { metadata } = set ?? assert.fail('no LoginSet');
    const policy = (dNSPolicy: string | null) =>
      client.mergePatch(loginSets, metadata, { spec: { template: { spec: { dNSPolicy } } } });
    await policy('Default');
    undo.defer(async () => void (await policy(null)));
    await finds('D19');
  });
  await provoke('D2', async (undo) => {
    const taint = { key: 'example.com/spare', value: 'yes', effect: 'NoSchedule' };
    for (const { metadata } of (await client.list(nodes)).items) {
      const at = { name: metadata.name };
      await client.mergePatch(nodes, at, { spec: { taints: [taint] } });
      undo.defer(async () => void (await client.mergePatch(nodes, at, { spec: { taints: null } })));
    }
    await added(undo, 'tainted', {});
    await finds('D2');
  });
  await provoke('A7', async (undo) => {
    const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
    await client.json('POST', path, {
      body: {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'full' },
        spec: { hard: { pods: '1' } },
      },
    });
    undo.defer(async () => void (await client.json('DELETE', `${path}/full`)));
    await added(undo, 'over-quota', {});
    await finds('A7');
  });
  await provoke('A6', async (undo) => {
    const enforce = (level: string | null) =>
      client.mergePatch(
        namespaces,
        { name: namespace },
        {
          metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } },
        },
      );
    const was = (await client.get(namespaces, { name: namespace })).metadata.labels?.[
      'pod-security.kubernetes.io/enforce'
    ];
    await enforce('baseline');
    undo.defer(async () => void (await enforce(was ?? null)));
    await added(undo, 'privileged', {});
    await finds('A6');
  });
  await provoke('A4', async (undo) => {
    const webhook = (await client.list(deployments, { namespace: operatorNamespace })).items.find(
      ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'webhook',
    );
    const at = webhook?.metadata ?? assert.fail('no webhook');
    await client.mergePatch(deployments, at, { spec: { replicas: 0 } });
    undo.defer(async () => void (await client.mergePatch(deployments, at, { spec: { replicas: 1 } })));
    await finds('A4');
  });
  await provoke('C5', async (undo) => {
    // The key of the demo allows it tokens; this one allows none.
    const at = { namespace, name: 'refused' };
    const data = { 'jwt.key': Buffer.alloc(32, 'k').toString('base64') };
    await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: at, data });
    undo.defer(async () => void (await client.delete(secrets, at)));
    await client.create(tokens, {
      apiVersion,
      kind: 'Token',
      metadata: at,
      spec: { username: 'slurm', jwtKeyRef: { name: at.name, key: 'jwt.key' } },
    } as never); // defaults that the type asks for are set by the server
    undo.defer(async () => void (await client.delete(tokens, at)));
    await finds('C5');
  });
  await provoke('D17', async (undo) => {
    const at = { namespace, name: 'claims' };
    const set = await client.get(nodeSets, { namespace, name: 'slurm-worker-long' });
    const claim = {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'no-such',
      resources: { requests: { storage: '1Gi' } },
    };
    await client.create(nodeSets, {
      apiVersion,
      kind: 'NodeSet',
      metadata: at,
      spec: {
        ...set.spec,
        replicas: 1,
        partition: { enabled: false },
        template: withPodSpec(set.spec.template, { hostname: 'claims-' }),
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claim }],
      },
    } as never); // defaults that the type asks for are set by the server
    undo.defer(async () => void (await client.delete(nodeSets, at)));
    await finds('D17');
  });
  await provoke('B18', async (undo) => {
    const at = { namespace, name: 'soon-gone' };
    await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: at, data: {} });
    const [controller] = (await client.list(controllers, { namespace })).items;
    const { metadata, spec } = controller ?? assert.fail('no Controller');
    const refs = spec.configFileRefs ?? [];
    const refer = (configFileRefs: typeof refs) =>
      client.mergePatch(controllers, metadata, { spec: { configFileRefs } });
    await refer([...refs, { name: at.name }]);
    undo.defer(async () => void (await refer(refs)));
    await client.delete(configMaps, at);
    await finds('B18');
  });
  await provoke('B16', async (undo) => {
    const [api] = (await client.list(restApis, { namespace })).items;
    const { metadata } = api ?? assert.fail('no RestApi');
    await client.mergePatch(restApis, metadata, { spec: { replicas: 0 } });
    undo.defer(async () => void (await client.mergePatch(restApis, metadata, { spec: { replicas: 1 } })));
    await finds('B16');
    const { exitCode, stderr } = await run('jobs');
    assert.equal(exitCode, 2, stderr);
  });
  await provoke('A2 A3', async (undo) => {
    const at = { namespace: operatorNamespace, name: 'slurm-operator' };
    await client.mergePatch(deployments, at, { spec: { replicas: 0 } });
    undo.defer(async () => void (await client.mergePatch(deployments, at, { spec: { replicas: 1 } })));
    await finds('A2');
    await finds('A3');
    await until('status says so', async () =>
      (await run('status')).stdout.includes('No operator has been running'),
    );
  });
  return { found: [...found].toSorted(), failed };
}

interface Found {
  readonly rule: string;
  readonly consequences: readonly Found[];
}

const flat = (findings: readonly Found[]): readonly Found[] =>
  findings.flatMap((each) => [each, ...flat(each.consequences)]);

const restart = (client: Client, name: string) =>
  client.mergePatch(
    nodeSets,
    { namespace, name },
    {
      spec: {
        template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': String(Date.now()) } } },
      },
    },
  );
