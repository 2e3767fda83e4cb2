/** Makes the keys that a Controller asks for, each once. */
import { randomBytes } from 'node:crypto';
import { label } from '@slurm-operator/api';
import { AlreadyExistsError, type Manager, secrets } from '@slurm-operator/kube';
import type { Steps } from '../../framework/steps.ts';
import type { ObservedController } from './observe.ts';
import { wantedKeys } from './wanted-keys.ts';

type Needs = Pick<Manager, 'client' | 'recorder'>;

export class KeyMaker {
  readonly #needs: Needs;
  readonly #random: (bytes: number) => Buffer;

  constructor(needs: Needs, random: (bytes: number) => Buffer = randomBytes) {
    this.#needs = needs;
    this.#random = random;
  }

  async make(observed: ObservedController, steps: Steps, signal: AbortSignal): Promise<void> {
    const { client, recorder } = this.#needs;
    const { controller } = observed;
    const { namespace, name: cluster } = controller.metadata;
    for (const { name, annotations, bytes } of wantedKeys(observed).secrets)
      await steps.run(`Secret ${name}`, async () => {
        const data = Object.fromEntries(
          Object.entries(bytes).map(([key, length]) => [key, this.#random(length).toString('base64')]),
        );
        try {
          // Created, never applied: a cache that lags must not replace a key that is there. And without an owner: the key
          // outlives the Controller, so that a cluster that is installed again finds its own.
          await client.create(
            secrets,
            {
              apiVersion: 'v1',
              kind: 'Secret',
              metadata: {
                name,
                namespace,
                annotations: { ...annotations },
                labels: {
                  [label.cluster]: cluster,
                  [label.partOf]: 'slurm',
                  [label.managedBy]: 'slurm-operator',
                },
              },
              type: 'Opaque',
              data,
            },
            { signal },
          );
        } catch (error) {
          if (!(error instanceof AlreadyExistsError)) throw error;
          return;
        }
        recorder.normal(controller, 'KeyCreated', `Created the key in Secret ${name}`, 'Create');
      });
  }
}
