/** Small pods of the busybox image, as people write them. */
import { busyboxImage } from './busybox-image.ts';

export const container = (script: string, more: Readonly<Record<string, unknown>> = {}) => ({
  name: 'c',
  image: busyboxImage,
  command: ['sh', '-c', script],
  ...more,
});

export interface PodOptions {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly container?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export const pod = ({
  name,
  labels = {},
  container: main = container('sleep 100000'),
  spec = {},
}: PodOptions) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels },
  spec: { terminationGracePeriodSeconds: 0, containers: [main], ...spec },
});
