/** Services: the user's specification with our selector and port in it. */
import { port, type RestApi } from '@slurm-operator/api';
import type { Service } from '@slurm-operator/kube';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { BuiltMeta } from './object-meta.ts';
import type { Read } from './read.ts';

export const restApiPort = ({ spec }: Read<RestApi>): number => spec.service?.port || port.slurmrestd;

export interface ServiceInput {
  readonly metadata: BuiltMeta;
  readonly selector: Readonly<Record<string, string>>;
  readonly port: { readonly name: string; readonly number: number; readonly target: string };
  readonly nodePort?: number | undefined;
  readonly user?: Read<Partial<IServiceSpec>> | undefined;
  /** A name for each pod, ready or not, instead of an address for all. */
  readonly headless?: boolean;
  /** Whether pods that are not ready are reached, too. */
  readonly notReady?: boolean;
}

export function buildService(input: ServiceInput): Service {
  // externalIPs would let a user who may write this object intercept traffic to any address (CVE-2020-8554).
  const { externalIPs: _, ...user } = (input.user ?? {}) as Partial<IServiceSpec>;
  const { name, number, target } = input.port;
  const ports = (user.ports ?? []).filter((one) => one.name !== name && one.port !== number);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: input.metadata,
    spec: {
      ...user,
      selector: { ...user.selector, ...input.selector },
      ports: [
        ...ports,
        {
          name,
          port: number,
          protocol: 'TCP',
          targetPort: target,
          ...(input.nodePort ? { nodePort: input.nodePort } : {}),
        },
      ],
      ...(input.headless ? { clusterIP: 'None' } : {}),
      ...(input.headless || input.notReady ? { publishNotReadyAddresses: true } : {}),
    },
  };
}
