import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { assertGolden } from '../../../../testing/golden.ts';
import { anAccounting, operatorDefaults } from '../../../../testing/objects.ts';
import { parseSlurmConf } from '../../../slurm-config/parse.ts';
import { secretSetting, UnsafeValueError } from '../../../slurm-config/setting.ts';
import { buildAccountingSecret, buildAccountingService, buildAccountingStatefulSet } from './accounting.ts';
import { buildSlurmdbdConf } from './slurmdbd-conf.ts';

const hashes = { slurmKey: 'hash-of-slurm-key', jwtKey: 'hash-of-jwt-key', slurmdbdConf: 'hash-of-conf' };
const matrix = {
  minimal: {},
  everything: {
    jwksKeyRef: { name: 'keys', key: 'jwks' },
    extraConf: 'PurgeJobAfter=12months\nAuthInfo=cred_expire=300\nStoragePass=mine\n',
    service: { port: 16_819, spec: { type: 'LoadBalancer' } },
    slurmdbd: { image: 'images.example/slurmdbd:24.11', resources: { limits: { memory: '1Gi' } } },
    template: { metadata: { labels: { team: 'hpc' } }, spec: { nodeSelector: { disk: 'ssd' } } },
  },
};

for (const [name, spec] of Object.entries(matrix))
  test(`the objects of an Accounting: ${name}`, () => {
    const accounting = anAccounting(spec);
    const { text } = buildSlurmdbdConf(accounting, 'pass word#1\\');
    assertGolden(`accounting/${name}.conf`, text);
    assertGolden(`accounting/${name}.yaml`, [
      buildAccountingService(accounting),
      buildAccountingSecret(accounting, 'text of slurmdbd.conf'),
      buildAccountingStatefulSet({ accounting, defaults: operatorDefaults, hashes }),
    ]);
  });

test('the user’s labels reach the pod, too (upstream weakness 18)', () => {
  const accounting = anAccounting({ template: { metadata: { labels: { team: 'hpc' } } } });
  const set = buildAccountingStatefulSet({ accounting, defaults: operatorDefaults, hashes });
  assert.equal(set.spec?.template.metadata?.labels?.['team'], 'hpc');
});

test('a password that cannot be written is refused without being told', () => {
  for (const password of ['', 'hunter"2', 'hunter2\n', 'hunter\r2', 'hunter\u00002'])
    assert.throws(
      () => buildSlurmdbdConf(anAccounting(), password),
      (error) => error instanceof UnsafeValueError && !inspect(error).includes('hunter'),
    );
});

test('any other password stays on its line and inside its quotes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (password) => {
      let line: string;
      try {
        line = `StoragePass=${secretSetting('StoragePass', password).value}`;
      } catch (error) {
        assert.ok(error instanceof UnsafeValueError);
        return;
      }
      const body = line.slice('StoragePass="'.length, -1);
      assert.equal(
        body.replaceAll('\\#', '#').replaceAll('\\\\', '\\').length,
        password.length,
        'nothing is lost',
      );
      assert.doesNotMatch(body, /[\n\r"]/);
      assert.doesNotMatch(
        body.replaceAll(/\\[\\#]/g, ''),
        /[#\\]/,
        'nothing is left that Slurm would act on',
      );
    }),
    { numRuns: 2000 },
  );
});

test('the rendered file is read as it was meant', () => {
  const { text } = buildSlurmdbdConf(anAccounting(), 'plain');
  const settings = Object.fromEntries(
    parseSlurmConf(text).flatMap(({ pairs }) => pairs.map(({ key, value }) => [key, value])),
  );
  assert.equal(settings['StoragePass'], 'plain');
  assert.equal(settings['DbdHost'], 'slurm-accounting-0');
});
