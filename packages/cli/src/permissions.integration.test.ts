/** Each command under exactly its role, compared with the audit log of the API server. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { rules as allRules } from '@slurm-operator/advice';
import { group as tokenGroup } from '@slurm-operator/api';
import { pods } from '@slurm-operator/kube';
import { CliWorld } from '../testing/cli-world.ts';
import { type PolicyRule, rulesOf } from './command-line/cluster-roles.ts';
import { commands } from './commands/index.ts';
import { clusters } from './session/resources.ts';

let world: CliWorld;
before(async () => {
  world = await CliWorld.start();
});
after(() => world.stop());

const here = ['-n', 'hpc'];
const token = () => ({ SLURM_JWT: world.slurm.token('root') });

/**
 * How each command is called. No node runs the pods here, so logs and exec end there, after the API server allowed them. `ssh`, `proxy` and
 * `token` need a port-forward: they run on localcluster.
 */
const calls: Readonly<Record<string, readonly string[]>> = {
  status: [],
  doctor: [],
  top: [],
  check: [],
  jobs: [],
  job: ['1'],
  submit: ['-', '--test'],
  cancel: ['1'],
  hold: ['1'],
  release: ['1'],
  requeue: ['1'],
  nodes: [],
  drain: ['gpu-0', '--reason', 'x'],
  resume: ['gpu-0'],
  plan: ['gpu', '--restart'],
  diff: ['-f', '/dev/null'],
  'rollout status': ['gpu'],
  'rollout pause': ['gpu'],
  'rollout resume': ['gpu'],
  'rollout undo': ['gpu'],
  version: [],
  options: [],
  completion: [],
  logs: ['slurmctld'],
  exec: ['gpu-0', '--', 'hostname'],
  scontrol: ['ping'],
  sinfo: ['-R'],
  squeue: ['--start'],
  sacct: ['--allusers'],
  sacctmgr: ['show', 'users'],
};
const elsewhereOnly = ['ssh', 'proxy', 'dashboard', 'token'];

const directory = mkdtempSync(join(tmpdir(), 'kubectl-slurm-run-'));
after(() => rmSync(directory, { recursive: true, force: true }));

const controllerRef = { name: 'slurm' };
const oneOfEach = [
  ['Accounting', {}],
  ['Cluster', { server: 'http://127.0.0.1:1' }],
  ['Controller', {}],
  ['LoginSet', { controllerRef }],
  ['NodeSet', { controllerRef, slurmd: {}, template: {} }],
  ['RestApi', { controllerRef }],
  ['Token', { username: 'x', jwtKeyRef: { name: 'x', key: 'x' } }],
] as const;

/** What a role grants, as `verb group resource`. */
const grants = (rules: readonly PolicyRule[]) =>
  new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group} ${resource}`)),
      ),
    ),
  );

test('each command asks Kubernetes for what its role grants and its needs name, and for nothing else', async () => {
  await world.run(['submit', '-', ...here], { env: token() });
  const used = new Set<string>();
  const manifests = oneOfEach.map(([kind, spec]) => {
    const file = join(directory, `${kind}.json`);
    const metadata = { name: 'one-of-each' };
    writeFileSync(file, JSON.stringify({ apiVersion: clusters.apiVersion, kind, metadata, spec }));
    return file;
  });
  await world.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'slurm-controller-0',
      namespace: 'hpc',
      labels: { 'app.kubernetes.io/component': 'controller' },
    },
    spec: { containers: [{ name: 'slurmctld', image: 'slurmctld:26.05' }] },
  });
  for (const command of commands) {
    const call = calls[command.name];
    if (call === undefined) {
      assert.ok(elsewhereOnly.includes(command.name), command.name);
      continue;
    }
    // It asks for revisions only once the operator has seen what `pause` and `resume` changed.
    if (command.name === 'rollout undo') await world.observeNodeSet();
    const from = world.server.audit.total;
    // What belongs to another program comes last.
    const { err } = await world.run([...here, ...command.name.split(' '), ...call], {
      user: command.role,
      env: token(),
    });
    if (command.name === 'diff')
      for (const file of manifests)
        await world.run(['diff', '-f', file, ...here], { user: command.role, env: token() });
    const asked = world.server.audit
      .find(({ id, userAgent }) => id > from && userAgent.startsWith('kubectl-slurm'))
      .filter(({ resource }) => resource !== '')
      .map(
        ({ verb, group, resource, subresource, status }) =>
          [
            `${verb} ${group} ${subresource === '' ? resource : `${resource}/${subresource}`}`,
            status,
          ] as const,
      )
      // The probe of the webhook is for those who may create tokens. Everyone may ask about themselves.
      .filter(([what]) => what !== `create ${tokenGroup} tokens` && !what.includes('selfsubject'));
    const granted = grants(rulesOf(command.role, commands));
    const needed = new Set(
      command.needs.flatMap((need) => need.verbs.map((verb) => `${verb} ${need.group} ${need.resource}`)),
    );
    for (const [what, status] of asked) {
      assert.notEqual(status, 403, `${command.name}: ${what}: ${err}`);
      assert.ok(granted.has(what), `${command.name}: slurm-${command.role} does not grant ${what}`);
      assert.ok(needed.has(what), `${command.name}: its needs do not name ${what}`);
      used.add(what);
    }
    assert.doesNotMatch(err, /You may not do this/, command.name);
  }
  // These need a port-forward, or are for tokens: they run on localcluster. `diff --try` has a test of its own. An older Kubernetes asks for
  // `get` of pods/exec where a newer one asks for `create`.
  const elsewhere =
    /pods\/portforward|^get {2}pods\/exec|secrets|clusters\/(jobs|nodes)|^(get|list) \S+ (restapis|controllers|pods)$|create|^(get|delete) {2}(pods|configmaps)$/;
  const unused = [...grants(rulesOf('admin', commands))].filter(
    (what) => !used.has(what) && !elsewhere.test(what),
  );
  assert.deepEqual(unused, [], 'permissions that no command uses');
});

test('with every right, doctor leaves out no rule', async () => {
  const job = world.slurm.cluster.createJob({ reason: 'InvalidAccount' });
  try {
    const { out } = await world.run(['doctor', '-o', 'json', ...here]);
    const { rules: checked, unchecked, failed } = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual([unchecked, failed], [[], []]);
    // F24 is about a job that slurmctld has forgotten.
    assert.equal(checked, allRules.length - 1);
  } finally {
    await world.run(['cancel', String(job.id), ...here]);
  }
});
