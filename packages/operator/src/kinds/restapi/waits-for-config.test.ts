import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation, conditionType } from '@slurm-operator/api';
import type { Deployment, Live } from '@slurm-operator/kube';
import { aController } from '../../../testing/objects.ts';
import { waitsForConfig } from './waits-for-config.ts';

const deployment = (hash: string) =>
  ({
    spec: { template: { metadata: { annotations: { [annotation.slurmConfigHash]: hash } } } },
  }) as unknown as Live<Deployment>;
const applied = (status: string, observedGeneration = 1) => ({
  observedGeneration,
  conditions: [{ type: conditionType.configApplied, status }],
});

for (const [reason, over, live, waits] of [
  ['the first one starts as soon as it can', { status: applied('False') }, undefined, false],
  ['what it reads of slurm.conf is the same', { status: applied('False') }, 'new', false],
  ['the new slurm.conf is being tried', { status: applied('False') }, 'old', true],
  ['the new Controller has not been observed yet', { status: applied('True', 0) }, 'old', true],
  ['the Controller says nothing yet', {}, 'old', true],
  ['the new slurm.conf is there', { status: applied('True') }, 'old', false],
] as const)
  test(`slurmrestd: ${reason}`, () => {
    const controller = { ...aController(), ...over } as never;
    assert.equal(
      waitsForConfig(
        controller,
        live === undefined ? undefined : deployment(live),
        deployment('new') as never,
      ),
      waits,
    );
  });

test('a slurmctld elsewhere has its slurm.conf elsewhere', () => {
  const controller = aController({ external: true, externalConfig: { host: 'head' } }) as never;
  assert.equal(waitsForConfig(controller, deployment('old'), deployment('new') as never), false);
});

test('slurmrestd does not wait for jobs that keep old lines in slurm.conf', () => {
  const status = {
    observedGeneration: 1,
    conditions: [{ type: conditionType.configApplied, status: 'False', reason: 'ConfigHeld' }],
  };
  const controller = { ...aController(), status } as never;
  assert.equal(waitsForConfig(controller, deployment('old'), deployment('new') as never), false);
});
