/** What the values of the chart slurm-operator mean. */
import assert from 'node:assert/strict';
import { after, before as beforeAll, test } from 'node:test';
import { chart, type Manifest } from './src/index.ts';
import { type Any, ChartStage, none, one } from './testing/chart-stage.ts';

let stage: ChartStage;
beforeAll(async () => {
  stage = await ChartStage.open();
});
after(() => stage?.[Symbol.asyncDispose]());

test('with cert-manager the certificate comes from there, and the webhook may touch nothing of it', async () => {
  const manifests = await stage.operator({ certManager: { enabled: true } });
  assert.equal(one(manifests, 'Certificate').spec.secretName, 'slurm-operator-webhook-ca');
  const webhook = one(manifests, 'Deployment', 'slurm-operator-webhook').spec.template.spec;
  assert.ok(webhook.containers[0].args.includes('--cert-dir=/certificates'));
  assert.equal(webhook.volumes[0].secret.secretName, 'slurm-operator-webhook-ca');
  const rules = manifests
    .filter(({ kind }) => kind.endsWith('Role'))
    .flatMap((role) => (role as Any).rules as Any[]);
  assert.ok(!rules.some((rule) => rule.apiGroups?.includes('admissionregistration.k8s.io')));
  const own = await stage.operator({});
  const granted = own
    .filter(({ kind }) => kind === 'ClusterRole')
    .flatMap((role) => (role as Any).rules as Any[]);
  const hooks = granted.filter((rule) => rule.apiGroups?.includes('admissionregistration.k8s.io'));
  assert.deepEqual(new Set(hooks.flatMap((rule) => rule.resourceNames)), new Set(['slurm-operator-webhook']));
});

test('rights follow what a program is asked to do: a lease to elect, reviews to serve metrics in secret', async () => {
  const resources = (manifests: readonly Manifest[], kind: string, name: string) =>
    (one(manifests, kind, name).rules as Any[]).flatMap((rule) => (rule.resources ?? []) as string[]);
  const may = async (operator: object) => {
    const manifests = await stage.operator({ operator });
    return manifests
      .filter(
        ({ kind, metadata }) =>
          kind.endsWith('Role') && /^(slinky-)?slurm-operator(-own)?$/.test(metadata.name),
      )
      .flatMap(({ kind, metadata }) => resources(manifests, kind, metadata.name));
  };
  assert.ok((await may({ leaderElection: true })).includes('leases'));
  assert.ok(!(await may({ leaderElection: false, replicas: 1 })).includes('leases'));
  await assert.rejects(may({ leaderElection: false, replicas: 2 }), /operator\.replicas to 1/);
  for (const review of ['tokenreviews', 'subjectaccessreviews']) {
    assert.ok((await may({ metricsSecure: true })).includes(review), review);
    assert.ok((await may({ tokenExchange: { enabled: true } })).includes(review), review);
    assert.ok(!(await may({})).includes(review), review);
  }
});

test('the dashboard is off; enabled it has its own account, which reads no Secret, and needs the token exchange', async () => {
  assert.ok(!JSON.stringify(await stage.operator({})).includes('dashboard'));
  const dashboard = { enabled: true, networkPolicy: { enabled: true } };
  await assert.rejects(stage.operator({ dashboard }), /operator\.tokenExchange\.enabled to true/);
  const operator = { tokenExchange: { enabled: true, userSuffix: '@example.org' } };
  const on = await stage.operator({ operator, dashboard });
  const { spec } = one(on, 'Deployment', 'slurm-operator-dashboard').spec.template;
  assert.equal(spec.serviceAccountName, 'slurm-operator-dashboard');
  assert.equal(spec.containers[0].securityContext.readOnlyRootFilesystem, true);
  assert.ok(spec.containers[0].args.includes('--user-suffix=@example.org'), 'the names of the exchange');
  assert.ok(!spec.containers[0].args.includes('--secure-cookies=false'), 'cookies need TLS');
  assert.deepEqual(one(on, 'NetworkPolicy').spec.ingress, [{ ports: [{ port: 8090, protocol: 'TCP' }] }]);
  const rules = on
    .filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name.includes('dashboard'))
    .flatMap((role) => (role as Any).rules as Any[]);
  assert.ok(rules.length > 4);
  for (const { resources, verbs } of rules) {
    assert.ok(!resources.includes('secrets'));
    const writes = verbs.filter((verb: string) => !['get', 'list', 'watch'].includes(verb));
    if (writes.length > 0)
      assert.match(
        resources.join(),
        /^(tokenreviews|subjectaccessreviews|clusters\/view)$/,
        'it changes nothing',
      );
  }
  const behindProxy = await stage.operator({
    operator,
    dashboard: { enabled: true, proxy: { secretName: 'oauth2-proxy' } },
  });
  const pod = one(behindProxy, 'Deployment', 'slurm-operator-dashboard').spec.template.spec;
  assert.equal(pod.volumes[0].secret.secretName, 'oauth2-proxy');
  assert.ok(pod.containers[0].args.includes('--proxy-secret-file=/proxy/secret'));
});

test('the token exchange is off; enabled it has a port, its own Secret and ConfigMap, and a Role for people without a binding', async () => {
  const off = await stage.operator({});
  assert.ok(!JSON.stringify(off).includes('token-exchange'));
  const on = await stage.operator({ operator: { tokenExchange: { enabled: true, userPrefix: 'oidc:' } } });
  const [container] = one(on, 'Deployment', 'slurm-operator').spec.template.spec.containers;
  assert.ok(container.args.includes('--token-exchange-addr=:9444'));
  assert.ok(container.args.includes('--token-exchange-user-prefix=oidc:'));
  assert.deepEqual(container.ports.at(-1), { name: 'token-exchange', containerPort: 9444 });
  const own: Any[] = one(on, 'Role', 'slurm-operator-own').rules;
  assert.ok(own.some((rule) => rule.resourceNames?.[0] === 'slurm-operator-token-exchange'));
  const people: Any[] = one(on, 'Role', 'slurm-operator-token-exchange').rules;
  assert.ok(!people.some((rule) => rule.resources.includes('secrets')));
  assert.ok(!on.some(({ kind, metadata }) => kind === 'RoleBinding' && metadata.name.endsWith('exchange')));
});

test('rights: in some namespaces only, nothing cluster-wide but what has no namespace', async () => {
  const all = await stage.operator({});
  const rules = (manifests: readonly Manifest[], kind: string, name: string): Any[] =>
    one(manifests, kind, name).rules;
  const touches = (list: Any[], resource: string) => list.some((rule) => rule.resources?.includes(resource));
  assert.ok(touches(rules(all, 'ClusterRole', 'slinky-slurm-operator'), 'secrets'));
  const some = await stage.operator({
    operator: { namespaces: 'team-a, team-b' },
    webhook: { namespaces: 'team-a' },
  });
  assert.ok(!touches(rules(some, 'ClusterRole', 'slinky-slurm-operator'), 'secrets'));
  const roles = some.filter(
    ({ kind, metadata }) => kind === 'Role' && metadata.name === 'slurm-operator',
  ) as Any[];
  assert.deepEqual(
    roles.map(({ metadata }) => metadata.namespace),
    ['team-a', 'team-b'],
  );
  for (const role of roles) assert.ok(touches(role.rules, 'secrets'));
  const wide = rules(some, 'ClusterRole', 'slinky-slurm-operator');
  assert.deepEqual(
    wide.map(({ resources, verbs, resourceNames }) => [resources, verbs, resourceNames]),
    [
      [['nodes'], ['list', 'watch'], undefined],
      [['namespaces'], ['get'], ['team-a', 'team-b']],
      [['nodesets'], ['patch'], undefined],
    ],
  );
  none(all, 'ValidatingAdmissionPolicy');
  const args = one(some, 'Deployment', 'slurm-operator').spec.template.spec.containers[0].args;
  assert.ok(args.includes('--namespaces=team-a,team-b'));
  none(
    await stage.operator({
      operator: { serviceAccount: { create: false } },
      webhook: { serviceAccount: { create: false } },
    }),
    'ClusterRole',
  );
});

const programs = ['slurm-operator', 'slurm-operator-webhook'];
const nodeLoss = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

test('by default two replicas of each program are spread over nodes, leave a lost node after 30 s, and have a budget', async () => {
  const manifests = await stage.operator({});
  for (const name of programs) {
    const { replicas, selector, template } = one(manifests, 'Deployment', name).spec;
    assert.equal(replicas, 2);
    assert.deepEqual(
      template.spec.tolerations.map((each: Any) => [each.key, each.effect, each.tolerationSeconds]),
      nodeLoss.map((key) => [key, 'NoExecute', 30]),
    );
    const [spread] = template.spec.topologySpreadConstraints;
    assert.deepEqual(
      [spread.topologyKey, spread.whenUnsatisfiable, spread.labelSelector],
      ['kubernetes.io/hostname', 'ScheduleAnyway', selector],
    );
    assert.ok(template.spec.containers[0].resources.requests.memory);
    const budget = one(manifests, 'PodDisruptionBudget', name).spec;
    assert.deepEqual(budget.selector, selector);
    assert.equal(budget.minAvailable, 1);
    assert.equal(budget.unhealthyPodEvictionPolicy, 'AlwaysAllow');
  }
});

test('one replica has no budget, which would block every drain', async () => {
  none(await stage.operator({ operator: { replicas: 1 }, webhook: { replicas: 1 } }), 'PodDisruptionBudget');
});

test('tolerations of the user come first, and replace ours for the same taint', async () => {
  const tolerations = async (operator: object) =>
    one(await stage.operator({ operator }), 'Deployment', 'slurm-operator').spec.template.spec
      .tolerations as Any[];
  const mine = { key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' };
  assert.deepEqual(
    (await tolerations({ tolerations: [mine] })).map(({ key }) => key as string),
    ['dedicated', ...nodeLoss],
  );
  const longer = { key: nodeLoss[0], operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 90 };
  assert.deepEqual(
    (await tolerations({ tolerations: [longer] })).map((each) => [each.key, each.tolerationSeconds]),
    [
      [nodeLoss[0], 90],
      [nodeLoss[1], 30],
    ],
  );
  assert.equal((await tolerations({ tolerations: [{ operator: 'Exists' }] })).length, 1);
  assert.equal(await tolerations({ nodeLossTolerationSeconds: null }), undefined);
});

test('only the operator elects a leader; the webhook has no right to a lease', async () => {
  const manifests = await stage.operator({});
  const leases = manifests.filter(
    ({ kind, rules }) =>
      kind.endsWith('Role') && (rules as Any[]).some((rule) => rule.resources?.includes('leases')),
  );
  assert.deepEqual(
    leases.map(({ metadata }) => metadata.name),
    ['slurm-operator-own'],
  );
  const { args } = one(manifests, 'Deployment', 'slurm-operator-webhook').spec.template.spec.containers[0];
  assert.ok(!args.includes('--leader-elect'));
});

test('the domain of Services is found by the operator itself, or is the one that the values give', async () => {
  const flags = async (values: object) => {
    const { template } = one(await stage.operator(values), 'Deployment', 'slurm-operator').spec;
    return (template.spec.containers[0].args as string[]).filter((arg) => arg.includes('cluster-domain'));
  };
  assert.deepEqual(await flags({}), []);
  assert.deepEqual(await flags({ clusterDomain: 'corp.example' }), ['--cluster-domain=corp.example']);
  await assert.rejects(flags({ clusterDomain: 'no domain' }), /clusterDomain/);
});

test('the notes lead to /debug/vars by the port and scheme that serve it, and not at all without a port', async () => {
  const notes = (operator: object) =>
    stage.helm.notes('slurm-operator', chart('slurm-operator'), { operator }, ['--namespace', 'slinky']);
  assert.match(await notes({}), /curl -s localhost:8080\/debug\/vars/);
  assert.match(
    await notes({ metricsPort: 9090, metricsSecure: true }),
    /curl -sk https:\/\/localhost:9090\//,
  );
  for (const metricsPort of [0, '0']) {
    const without = await notes({ metricsPort });
    assert.doesNotMatch(without, /curl|the connections to Slurm/);
    assert.match(without, /logs --selector[^\n]*\n\nThe operator serves no metrics/);
  }
});
