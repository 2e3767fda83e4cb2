/** The standards as clients meet them: pods refused, workloads warned about, namespaces tightened. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { serveCaller } from '../../../testing/serve-caller.ts';

const LABEL = 'pod-security.kubernetes.io';
const container = { name: 'c', image: 'i' };
const hardened = {
  ...container,
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

async function serve(t: TestContext, labels: Record<string, string>) {
  const { server, caller } = await serveCaller(t);
  const send = async (method: string, path: string, body: object) => {
    const headers = {
      'content-type': method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json',
    };
    const answer = await caller.call({ method, path, body, headers });
    const { message } = JSON.parse(answer.text) as { message?: string };
    return { status: answer.status, message, warnings: answer.headers['warning'] ?? [] };
  };
  const made = await send('POST', '/api/v1/namespaces', { metadata: { name: 'ns', labels } });
  const pod = (name: string, one: object) =>
    send('POST', '/api/v1/namespaces/ns/pods', { metadata: { name }, spec: { containers: [one] } });
  return { server, send, pod, made };
}

test('a namespace that enforces refuses the pods that break its standard, and no others', async (t) => {
  const { send, pod } = await serve(t, { [`${LABEL}/enforce`]: 'restricted' });
  const refused = await pod('bad', container);
  assert.equal(refused.status, 403);
  assert.match(
    refused.message ?? '',
    /^pods "bad" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false \(/,
  );
  assert.equal((await pod('good', hardened)).status, 201);
  const image = { spec: { containers: [{ ...hardened, image: 'j' }] } };
  assert.equal((await send('PATCH', '/api/v1/namespaces/ns/pods/good', image)).status, 200);
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } };
  const workload = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
  const made = await send('POST', '/apis/apps/v1/namespaces/ns/deployments', workload);
  assert.deepEqual([made.status, made.warnings], [201, []], 'a workload is refused nothing; its pods are');
});

test('warn and audit let pods in; workloads are told too', async (t) => {
  const labels = {
    [`${LABEL}/warn`]: 'baseline',
    [`${LABEL}/audit`]: 'restricted',
    [`${LABEL}/audit-version`]: 'v1.30',
  };
  const { server, send, pod } = await serve(t, labels);
  const privileged = { ...container, securityContext: { privileged: true } };
  const made = await pod('p', privileged);
  assert.equal(made.status, 201);
  assert.match(made.warnings.join(), /would violate PodSecurity \\"baseline:latest\\": privileged \(/);
  const [entry] = server.audit.find({ verb: 'create', resource: 'pods' });
  assert.match(
    entry?.annotations?.[`${LABEL}/audit-violations`] ?? '',
    /would violate PodSecurity "restricted:v1\.30"/,
  );
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [privileged] } };
  const workload = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
  const deployed = await send('POST', '/apis/apps/v1/namespaces/ns/deployments', workload);
  assert.match(deployed.warnings.join(), /would violate PodSecurity/);
});

test('labels must name a level; who tightens a namespace hears of the pods in it', async (t) => {
  const { send, pod } = await serve(t, {});
  assert.equal((await pod('old', container)).status, 201);
  const change = (level: string) =>
    send('PATCH', '/api/v1/namespaces/ns', { metadata: { labels: { [`${LABEL}/enforce`]: level } } });
  const wrong = await change('strict');
  assert.equal(wrong.status, 422);
  assert.match(
    wrong.message ?? '',
    /enforce\]: Invalid value: "strict": must be one of privileged, baseline, restricted/,
  );
  const tightened = await change('restricted');
  assert.equal(tightened.status, 200);
  assert.match(
    tightened.warnings.join('\n'),
    /existing pods in namespace \\"ns\\" violate the new[^]*old: allowPrivilegeEscalation != false, /,
  );
  assert.deepEqual((await change('restricted')).warnings, [], 'only when it changes');
});
