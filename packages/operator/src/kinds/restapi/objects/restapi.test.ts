import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { assertGolden } from '../../../../testing/golden.ts';
import { aController, aRestApi, operatorDefaults } from '../../../../testing/objects.ts';
import { buildRestApiDeployment, buildRestApiService } from './restapi.ts';

const matrix = {
  minimal: { restApi: {}, controller: {} },
  accounting: { restApi: {}, controller: { accountingRef: { name: 'slurm' } } },
  overrides: {
    restApi: {
      replicas: 3,
      slurmrestd: {
        image: 'images.example/slurmrestd:24.11',
        args: ['-v'],
        livenessProbe: { periodSeconds: 60 },
      },
      template: { spec: { nodeSelector: { zone: 'a' } } },
      service: { port: 80, metadata: { annotations: { lb: 'internal' } }, spec: { type: 'LoadBalancer' } },
    },
    controller: {},
  },
};

for (const [name, { restApi: spec, controller }] of Object.entries(matrix))
  test(`the objects of a RestApi: ${name}`, () => {
    const restApi = aRestApi(spec);
    assertGolden(`restapi/${name}.yaml`, [
      buildRestApiService(restApi),
      buildRestApiDeployment({ restApi, controller: aController(controller), defaults: operatorDefaults }),
    ]);
  });

test('slurmrestd restarts when what it takes from slurm.conf changes, and not otherwise', () => {
  const hash = (spec: object) =>
    buildRestApiDeployment({ restApi: aRestApi(), controller: aController(spec), defaults: operatorDefaults })
      .spec?.template.metadata?.annotations?.[annotation.slurmConfigHash];
  assert.equal(hash({ extraConf: 'DebugFlags=Gres' }), hash({}));
  assert.notEqual(hash({ service: { port: 16_817 } }), hash({}));
  assert.notEqual(hash({ accountingRef: { name: 'a' } }), hash({}));
});

test('the last argument is the address, whatever the user adds', () => {
  const args = (user: string[]) =>
    buildRestApiDeployment({
      restApi: aRestApi({ slurmrestd: { args: user } }),
      controller: aController(),
      defaults: operatorDefaults,
    }).spec?.template.spec?.containers[0]?.args;
  assert.deepEqual(args(['-v', '-t', '8']), ['-s', 'openapi/slurmctld', '-v', '-t', '8', '0.0.0.0:6820']);
});
