/** What the demo calls its own on a cluster, and how it knows it again. */
import { imageTag, operatorImage, type SlurmVersion } from '@slurm-operator/images';
import { slurmDaemons } from './install/install.ts';

export const demoNamespace = 'slurm-demo';
export const demoOperatorNamespace = 'slurm-demo-operator';

/** The helm releases, each with its namespace. */
export const releases = {
  slurm: { name: 'slurm', namespace: demoNamespace },
  operator: { name: 'slurm-operator', namespace: demoOperatorNamespace },
  customResources: { name: 'slurm-operator-crds', namespace: demoOperatorNamespace },
} as const;

/** On both namespaces: what carries it was made by the demo, and only that is changed or removed. */
export const mark = { name: 'app.kubernetes.io/managed-by', value: 'slurm-operator-demo' } as const;

export const slurmVersion: SlurmVersion = '26.05';
export const restVersion = 'v0.0.45';
export const workers = 3;

/** `registry`: what the charts put in front of every image; none by default. */
export const inRegistry = (registry: string, image: string): string =>
  registry === '' ? image : `${registry.replace(/\/$/, '')}/${image}`;

/** Every image that a pod of the demo wants. */
export const demoImages = (registry = ''): string[] =>
  [operatorImage, ...slurmDaemons.map((name) => imageTag(name, slurmVersion)), imageTag('mariadb')].map(
    (image) => inRegistry(registry, image),
  );
/** Something about the given cluster keeps the demo away; the message says what to do. */
export class DemoRefusedError extends Error {
  override readonly name = 'DemoRefusedError';
}
