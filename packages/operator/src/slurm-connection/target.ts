/** Where the Slurm of a Cluster is, and where its token comes from. Pure. */
import type { Cluster, Controller, RestApi } from '@slurm-operator/api';
import { resourceName, tokenSecretKey } from '@slurm-operator/api';
import type { Read } from '../objects/read.ts';
import { restApiPort } from '../objects/service.ts';
import type { Failure } from './failure.ts';

export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

export interface Target {
  readonly server: string;
  /** `key`: we sign tokens with it. `token`: it is one. */
  readonly credential: { readonly kind: 'key' | 'token'; readonly secret: SecretRef };
  readonly ca: SecretRef | undefined;
  readonly username: string;
}

export interface Surrounding {
  readonly controller: Read<Controller> | undefined;
  /** The RestApis of the namespace. */
  readonly restApis: readonly Read<RestApi>[];
  /** How a Service of the namespace is reached: by its name, or by its address where the operator has no cluster DNS. */
  readonly serviceHost: (service: string) => string;
}

/** Who we are to Slurm. */
const operatorUser = 'slurm';

export function resolveTarget(cluster: Read<Cluster>, around: Surrounding): Target | Failure {
  const { spec, metadata } = cluster;
  const token = spec.tokenSecretRef ?? spec.token?.secretRef;
  const credential = token && {
    kind: 'token' as const,
    secret: { name: token.name, key: token.key || tokenSecretKey },
  };
  const common = { ca: spec.caConfigMapRef, username: spec.username ?? operatorUser };
  if (spec.server !== undefined)
    return credential === undefined
      ? configuration(
          'InvalidSpec',
          'spec.server needs spec.tokenSecretRef: name the Secret that contains a token.',
        )
      : { server: spec.server, credential, ...common };

  const name = spec.controllerRef?.name ?? '';
  const { controller } = around;
  if (controller === undefined)
    return configuration(
      'ControllerNotFound',
      `Controller ${name} does not exist in namespace ${metadata.namespace}: create it.`,
    );
  const restApi = around.restApis
    .filter((one) => one.spec.controllerRef.name === name)
    .toSorted(oldestFirst)
    .at(0);
  if (restApi === undefined)
    return configuration(
      'RestApiNotFound',
      `no RestApi in namespace ${metadata.namespace} has controllerRef.name "${name}": create one, because the operator communicates with Slurm through it.`,
    );
  const key = controller.spec.jwtKeyRef ?? controller.spec.jwtHs256KeyRef;
  if (credential === undefined && key === undefined)
    return configuration(
      'InvalidSpec',
      `Controller ${name} has no JWT key: set its jwtKeyRef, or tokenSecretRef of this Cluster.`,
    );
  const host = around.serviceHost(resourceName.restapi(restApi.metadata.name));
  return {
    server: `http://${host}:${restApiPort(restApi)}`,
    credential: credential ?? { kind: 'key', secret: { name: key?.name ?? '', key: key?.key ?? '' } },
    ...common,
  };
}

const configuration = (reason: Failure['reason'], message: string): Failure => ({
  class: 'configuration',
  reason,
  message,
});

function oldestFirst(a: Read<RestApi>, b: Read<RestApi>): number {
  const [ageA, ageB] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  return ageA === ageB ? (a.metadata.name < b.metadata.name ? -1 : 1) : ageA < ageB ? -1 : 1;
}
