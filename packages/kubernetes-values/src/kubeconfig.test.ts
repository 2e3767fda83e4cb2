import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Kubeconfig, kubeconfigDocument } from './kubeconfig.ts';

const options = { url: 'https://a', caPem: 'ca', user: 'jane', credentials: { token: 't' }, name: 'one' };

test('what is written is read back: one context with its cluster and its user', () => {
  const text = fc.string({ minLength: 1 });
  fc.assert(
    fc.property(text, text, text, text, (url, caPem, user, name) => {
      const config = new Kubeconfig();
      const credentials = { certificatePem: 'certificate', keyPem: 'key' };
      config.add(kubeconfigDocument({ url, caPem, user, name, credentials }), '/d');
      const context = config.contexts.get(config.currentContext);
      assert.deepEqual(context, { cluster: name, user });
      const { value } = config.clusters.get(name) ?? {};
      assert.equal(value?.server, url);
      const ca = Buffer.from(value?.['certificate-authority-data'] ?? '', 'base64').toString();
      assert.equal(ca, Buffer.from(caPem).toString());
      assert.equal(config.users.get(user)?.directory, '/d');
    }),
  );
});

test('the first file to name an entry or a current context wins', () => {
  const config = new Kubeconfig();
  config.add({ ...kubeconfigDocument(options), 'current-context': undefined }, '/first');
  config.add(kubeconfigDocument({ ...options, url: 'https://b' }), '/second');
  config.add(kubeconfigDocument({ ...options, url: 'https://c', name: 'two' }), '/third');
  assert.equal(config.currentContext, 'one');
  assert.deepEqual(config.clusters.get('one')?.value.server, 'https://a');
  assert.equal(config.users.get('jane')?.directory, '/first');
  assert.deepEqual([...config.clusters.keys()], ['one', 'two']);
});

test('what is no kubeconfig adds nothing', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (document, list) => {
      const config = new Kubeconfig();
      config.add(document, '/');
      config.add({ clusters: list, users: [list], contexts: [{ name: 'x', context: list }] }, '/');
      assert.ok([...config.clusters.keys()].every((name) => typeof name === 'string'));
    }),
  );
});
