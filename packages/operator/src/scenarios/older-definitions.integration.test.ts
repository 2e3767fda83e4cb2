/** The operator was upgraded and the CRDs were not, or they are upstream's: objects still say what the operator found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionType, customResourceDefinition, kinds, qualityOfServiceKind } from '@slurm-operator/api';
import { customResourceDefinitions } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { aController, aToken } from '../../testing/objects.ts';
import { startOperatorWorld } from '../../testing/operator-world.ts';
import { controllers, tokens } from '../cache/resources.ts';

interface StatusSchema {
  properties: Record<string, unknown>;
}

/** The definition of an older release, whose status has conditions only. */
function older(kind: (typeof kinds)[number]) {
  const definition = structuredClone(customResourceDefinition(kind)) as unknown as {
    metadata: { name: string };
    spec: { versions: { schema: { openAPIV3Schema: { properties: { status: StatusSchema } } } }[] };
  };
  for (const { schema } of definition.spec.versions) {
    const { status } = schema.openAPIV3Schema.properties;
    const { conditions, observedGeneration } = status.properties;
    status.properties = { conditions, observedGeneration };
  }
  return definition;
}

test('a status with fields that the CRD lacks is written without them', async () => {
  const world = await startOperatorWorld();
  try {
    for (const kind of kinds.filter((each) => ['Controller', 'Token'].includes(each.kind))) {
      const { metadata, spec } = older(kind);
      await world.client.mergePatch(customResourceDefinitions, metadata, { spec });
    }
    await world.operate();
    await world.put(controllers, aController());
    await world.put(tokens, aToken());
    const { message } = await world.said(tokens, 'alice', conditionType.ready, 'SecretNotFound');
    assert.match(message, /slurm-jwt/);
    const ready = await world.said(controllers, 'slurm', conditionType.ready, 'SecretNotFound');
    assert.equal(ready.status, 'False');
  } finally {
    await world.stop();
  }
});

test('an operator that is newer than the CRDs runs without the kinds that they lack', async () => {
  const world = await startOperatorWorld();
  try {
    const { metadata } = customResourceDefinition(qualityOfServiceKind) as { metadata: { name: string } };
    await world.client.delete(customResourceDefinitions, metadata);
    await until('the definition to be gone', async () => {
      return (await world.client.find(customResourceDefinitions, metadata)) === undefined;
    });
    await world.operate();
    await world.put(tokens, aToken());
    await world.said(tokens, 'alice', conditionType.ready, 'SecretNotFound');
  } finally {
    await world.stop();
  }
});
