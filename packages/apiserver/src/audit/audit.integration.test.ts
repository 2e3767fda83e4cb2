/** Every request leaves an entry that says who asked for what and how it was answered, whatever became of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenWatch } from '../../testing/contract/open-watch.ts';
import { serveCaller } from '../../testing/serve-caller.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

test('who, verb, object and answer of each request are told apart', async (t) => {
  const { server, caller } = await serveCaller(t);
  const from = server.audit.total;
  const jane = { 'impersonate-user': 'jane', 'user-agent': 'janes-tool/2' };
  await caller.call({ method: 'POST', path: configMaps, body: { metadata: { name: 'a' } } });
  await caller.call({ method: 'GET', path: `${configMaps}/a`, headers: jane });
  await caller.call({ method: 'GET', path: `${configMaps}/missing` });
  await caller.call({ method: 'GET', path: '/api/v1/pods', anonymous: true });
  await caller.call({ method: 'GET', path: '/version', anonymous: true });
  await caller.call({ method: 'PUT', path: '/apis/apps/v1/namespaces/x/deployments/d/scale', body: {} });
  const watch = new OpenWatch(caller, { method: 'GET', path: `${configMaps}?watch=true` });
  await watch.opened();
  watch.close();
  server.faults.refuse({ status: 429, retryAfterSeconds: 1 }, { verb: 'list', times: 1 });
  await caller.call({ method: 'GET', path: configMaps });
  const headers = { authorization: 'Bearer nonsense' };
  await caller.call({ method: 'DELETE', path: configMaps, headers });

  const entries = server.audit.find(({ id }) => id > from);
  assert.deepEqual(
    entries.map(({ user, verb, resource, subresource, namespace, name, status }) =>
      [user, verb, `${resource}${subresource && `/${subresource}`}`, `${namespace}/${name}`, status].join(
        ' ',
      ),
    ),
    [
      'kubernetes-admin create configmaps default/a 201',
      'jane get configmaps default/a 403',
      'kubernetes-admin get configmaps default/missing 404',
      'system:anonymous list pods / 403',
      'system:anonymous get  / 200',
      'kubernetes-admin update deployments/scale x/d 404',
      'kubernetes-admin watch configmaps default/ 200',
      'kubernetes-admin list configmaps default/ 429',
      ' deletecollection configmaps default/ 401',
    ],
  );
  assert.equal(server.audit.count({ userAgent: 'janes-tool/2' }), 1);
  assert.equal(server.audit.count({ group: 'apps', version: 'v1' }), 1);
  assert.doesNotMatch(JSON.stringify(entries), /nonsense/, 'credentials are not kept');
});
