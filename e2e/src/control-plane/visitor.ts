/** A user from outside with a password: a separate pod with ssh. */
import { imageTag, type SlurmVersion } from '@slurm-operator/images';
import { password } from '@slurm-operator/images/testing';
import { configMaps, pods } from '@slurm-operator/kube';
import { inGivenRegistry } from '../given/given-cluster.ts';
import { namespace } from '../slurm-stage.ts';
import { until } from '../until.ts';
import type { ControlPlane } from './control-plane.ts';

const name = 'visitor';

export class Visitor {
  readonly #plane: ControlPlane;

  private constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  static async arrive(plane: ControlPlane, version: SlurmVersion): Promise<Visitor> {
    await plane.create(configMaps, name, { data: { askpass: `#!/bin/sh\necho '${password}'\n` } });
    await plane.create(pods, name, {
      spec: {
        containers: [
          {
            name,
            image: inGivenRegistry(imageTag('login', version)),
            command: ['sleep', 'infinity'],
            volumeMounts: [{ name: 'askpass', mountPath: '/askpass' }],
          },
        ],
        volumes: [{ name: 'askpass', configMap: { name, defaultMode: 0o755 } }],
      },
    });
    await until(
      'the visitor',
      async () => (await plane.stage.client.get(pods, { namespace, name })).status?.phase === 'Running',
    );
    return new Visitor(plane);
  }

  /** Output of a command at the other end, of a user whose password is that of the directory. */
  ssh(user: string, host: string, command: string): Promise<string> {
    const ask = 'env SSH_ASKPASS=/askpass/askpass SSH_ASKPASS_REQUIRE=force';
    const ssh = 'ssh -o StrictHostKeyChecking=no -o NumberOfPasswordPrompts=1';
    return this.#plane.run(name, name, [...`${ask} ${ssh}`.split(' '), `${user}@${host}`, command]);
  }
}
