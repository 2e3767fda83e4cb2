/** Every flag of the webhook that the manager does not have has a test here; those they share are tested there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { managerFlagTable } from './manager-flags.ts';
import { type WebhookFlags, webhookFlags, webhookFlagTable } from './webhook-flags.ts';

const tried = new Set<string>();

function read(args: readonly string[], env: Record<string, string> = {}): WebhookFlags {
  for (const arg of args) tried.add(/^--?([a-z0-9-]+)/.exec(arg)?.[1] ?? '');
  const flags = webhookFlags(args, env);
  if ('usage' in flags) assert.fail('this is no call for help');
  return flags;
}

test('without a flag it makes its own certificate, and serves no metrics', () => {
  const flags = read([], { POD_NAMESPACE: 'slinky' });
  assert.deepEqual(flags.server, { port: 9443 });
  assert.equal(flags.serving.metrics, undefined);
  assert.deepEqual(flags.serving.health, { port: 8081 });
  assert.deepEqual(flags.certificates, {
    secret: 'slurm-operator-webhook-certs',
    service: 'slurm-operator-webhook',
    namespace: 'slinky',
    validating: 'slurm-operator-webhook',
    mutating: '',
  });
});

test('a certificate of others is read from its directory', () => {
  assert.deepEqual(read(['--cert-dir=/certs', '--cert-secret=unused']).certificates, { directory: '/certs' });
});

test('its own certificate is for the Service that is named, and known to the configurations that are', () => {
  assert.deepEqual(
    read([
      '--cert-secret=s',
      '--service-name=hook',
      '--validating-configuration=',
      '--mutating-configuration=m',
    ]).certificates,
    { secret: 's', service: 'hook', namespace: undefined, validating: '', mutating: 'm' },
  );
});

test('the webhook needs an address', () => {
  assert.deepEqual(read(['--server-addr=127.0.0.1:1']).server, { host: '127.0.0.1', port: 1 });
  assert.throws(
    () => read(['--server-addr=0']),
    /--server-addr is 0: the webhook needs an address, such as :9443/,
  );
  assert.ok('usage' in webhookFlags(['-h'], {}));
});

test('what both programs take is the same', () => {
  for (const [name, flag] of Object.entries(managerFlagTable)) {
    const mine = (webhookFlagTable as Record<string, typeof flag>)[name];
    if (mine !== undefined && name !== 'metrics-addr') assert.equal(mine.default, flag.default, name);
  }
});

test('every flag was tried above', () => {
  const untried = Object.keys(webhookFlagTable).filter(
    (flag) => !(flag in managerFlagTable) && !tried.has(flag),
  );
  assert.deepEqual(untried, [], 'flags without a test of what they do');
});
