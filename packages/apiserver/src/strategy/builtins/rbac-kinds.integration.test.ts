/** Who may change a role or binding: only those who hold what it grants, whatever they change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callOnce } from '../../../testing/call-once.ts';
import { startApiServer } from '../../server.ts';

const group = 'rbac.authorization.k8s.io';
const at = `/apis/${group}/v1/namespaces/default`;
const account = { kind: 'ServiceAccount', name: 'default', namespace: 'default' };

test('a label of a role that grants more than its author holds is refused, a finalizer is not', async (t) => {
  const server = await startApiServer();
  t.after(() => server.stop());
  const post = (path: string, body: object) => callOnce(server, 'POST', path, body);
  const rules = [
    { apiGroups: [group], resources: ['roles', 'rolebindings'], verbs: ['get', 'patch', 'update'] },
  ];
  await post(`${at}/roles`, { metadata: { name: 'author' }, rules });
  await post(`${at}/roles`, {
    metadata: { name: 'strong' },
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
  });
  for (const name of ['author', 'strong'])
    await post(`${at}/rolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'Role', name },
      subjects: name === 'author' ? [account] : [],
    });
  const made = await post('/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} });
  const { token } = made.body['status'] as { token: string };
  const patch = async (path: string, metadata: object) =>
    (await callOnce(server, 'PATCH', `${at}/${path}`, { metadata }, { token })).status;
  for (const kind of ['roles', 'rolebindings']) {
    assert.equal(await patch(`${kind}/strong`, { labels: { a: 'b' } }), 403, kind);
    assert.equal(await patch(`${kind}/strong`, { finalizers: ['example.org/f'] }), 200, kind);
    assert.equal(await patch(`${kind}/author`, { labels: { a: 'b' } }), 200, kind);
  }
});
