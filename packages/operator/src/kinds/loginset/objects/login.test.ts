import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { assertGolden } from '../../../../testing/golden.ts';
import { aController, aLoginSet, operatorDefaults } from '../../../../testing/objects.ts';
import { buildHostKeys, buildLoginDeployment, buildLoginService, buildSshConfig } from './login.ts';

const hashes = {
  slurmKey: 'hash-of-slurm-key',
  sssdConf: 'hash-of-sssd-conf',
  hostKeys: 'hash-of-host-keys',
};
const matrix = {
  minimal: { loginSet: {}, controller: {} },
  everything: {
    loginSet: {
      replicas: 3,
      login: { image: 'images.example/login:24.11', securityContext: { privileged: false } },
      initconf: { image: 'images.example/alpine' },
      extraSshdConfig: 'LoginGraceTime 600\n',
      rootSshAuthorizedKeys: 'ssh-ed25519 AAAA admin\n',
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      service: { port: 2222, spec: { type: 'LoadBalancer' } },
      template: { spec: { volumes: [{ name: 'home', nfs: { server: 'nfs', path: '/home' } }] } },
    },
    controller: { ha: { enabled: true, backups: 1 }, persistence: { existingClaim: 'shared' } },
  },
  external: {
    loginSet: {},
    controller: { external: true, externalConfig: { host: 'head.example.com', port: 7777 } },
  },
};

for (const [name, { loginSet: spec, controller }] of Object.entries(matrix))
  test(`the objects of a LoginSet: ${name}`, () => {
    const loginSet = aLoginSet(spec);
    assertGolden(`login/${name}.yaml`, [
      buildHostKeys(loginSet, { ssh_host_rsa_key: 'private' }),
      buildSshConfig(loginSet),
      buildLoginService(loginSet),
      buildLoginDeployment({
        loginSet,
        controller: aController(controller),
        defaults: operatorDefaults,
        hashes,
      }),
    ]);
  });

test('whatever the pods cannot see change replaces them (upstream weakness 17)', () => {
  const annotations = (spec: object, over: object = {}) =>
    buildLoginDeployment({
      loginSet: aLoginSet(spec),
      controller: aController(),
      defaults: operatorDefaults,
      hashes: { ...hashes, ...over },
    }).spec?.template.metadata?.annotations ?? {};
  const sshd = (spec: object) => annotations(spec)[annotation.sshdConfHash];
  assert.notEqual(sshd({ extraSshdConfig: 'X yes' }), sshd({}));
  assert.notEqual(sshd({ rootSshAuthorizedKeys: 'ssh-rsa A' }), sshd({}));
  assert.equal(annotations({}, { slurmKey: 'new' })[annotation.slurmKeyHash], 'new');
});
