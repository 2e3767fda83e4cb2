/** A Secret that is deleted and created again (a restore, a tool that replaces it) must not end a slurmctld that runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { aController, operatorDefaults, podFacts } from '../../../../testing/objects.ts';
import { currentStatefulSet, observedController } from '../../../../testing/observed-controller.ts';
import type { ObservedController } from '../observe.ts';
import { decideController } from './decide.ts';

const present = [
  { name: 'slurm-auth', keys: { 'slurm.key': 'new' } },
  { name: 'slurm-jwt', keys: { 'jwt.key': 'j' } },
];

const notes = (secrets: ObservedController['secrets']) =>
  decideController(
    observedController({
      controller: { ...aController(), status: { configHash: 'old' } },
      secrets,
      pods: [podFacts({ ready: true, running: true })],
      withoutAccounting: true,
      slurmdbd: { image: undefined, updating: true },
      statefulSet: { ...currentStatefulSet, slurmKey: 'new' },
    }),
    operatorDefaults,
  ).statefulSet?.spec?.template.metadata?.annotations;

for (const lost of ['slurm-auth', 'slurm-jwt'])
  for (const keys of [undefined, {}])
    test(`a running slurmctld keeps its pod while Secret ${lost} ${keys === undefined ? 'is gone' : 'has no key'}`, () => {
      const secrets = present.map((one) => (one.name === lost ? { name: lost, keys } : one));
      const now = notes(secrets);
      // Either nothing is applied, or the digests that the pods were started with stay.
      assert.ok(
        now === undefined || (now[annotation.slurmKeyHash] === 'new' && now[annotation.jwtKeyHash] === 'j'),
        `the pod is replaced: ${JSON.stringify(now)}`,
      );
    });
