/** What the values of several charts, or of several parts of one, have in common. */
import {
  anyMap,
  closed,
  flag,
  list,
  mapOf,
  nameOf,
  oneOf,
  port,
  type Schema,
  text,
  whole,
} from './schema.ts';

/** A string, or its parts. */
export const image = (of: string): Schema => ({
  description: `Image of ${of}: a string, or repository with tag or digest; the digest wins.`,
  type: ['object', 'string', 'null'],
  properties: {
    repository: text('Repository, with or without a host.'),
    tag: { description: 'Tag.', type: ['string', 'number', 'null'] },
    digest: text('Digest, such as sha256: and 64 hexadecimal digits.'),
  },
  additionalProperties: false,
});

export const pullPolicy = oneOf('When images are pulled.', ['Always', 'IfNotPresent', 'Never']);
export const pullSecrets = list('Secrets with which images are pulled: names, or {name: ...}.', {
  items: {
    type: ['string', 'object'],
    properties: { name: text('Name of the Secret.') },
    additionalProperties: false,
  },
});
export const registry = text(
  'Registry host and optional path that is prepended to every image without a host.',
);
export const extraObjects = list('Additional objects, as template strings or as maps.', {
  items: { type: ['object', 'string'] },
});

export const metadata = (of: string): Schema =>
  closed(`Labels and annotations added to ${of}.`, {
    labels: mapOf('Labels.', text('Value of the label.')),
    annotations: mapOf('Annotations.', text('Value of the annotation.')),
  });

/** A container of Kubernetes, of which the fields that are often set are named. */
export const container = (of: string): Schema =>
  anyMap(`The container of ${of}; other fields of a Kubernetes container may be added.`, {
    properties: {
      image: image(of),
      args: list('Arguments added to those of the operator.', { items: { type: 'string' } }),
      env: list('Environment variables.', { items: { type: 'object' } }),
      resources: anyMap('Requests and limits.', {
        properties: { limits: anyMap('Limits.'), requests: anyMap('Requests.') },
      }),
      volumeMounts: list('Volumes that are mounted.', { items: { type: 'object' } }),
      securityContext: anyMap('Security settings.'),
    },
  });

export const podSpec: Schema = anyMap(
  'A PodSpec that is merged over the generated one; other fields of it may be added.',
  {
    properties: {
      resources: anyMap('Requests and limits of the pod as a whole.'),
      initContainers: list('Containers that run first.', { items: { type: 'object' } }),
      nodeSelector: mapOf('Labels that a node must have.', text('Value of the label.')),
      affinity: anyMap('Affinity.'),
      tolerations: list('Tolerations.', { items: { type: 'object' } }),
      volumes: list('Volumes.', { items: { type: 'object' } }),
      priorityClassName: nameOf('Priority class of these pods.'),
      imagePullSecrets: pullSecrets,
      hostNetwork: flag('Use the host network.'),
    },
  },
);

export const service = (of: string): Schema =>
  closed(`Changes to the Service of ${of}.`, {
    metadata: metadata('the Service'),
    spec: anyMap('A ServiceSpec that is merged over the generated one.', {
      properties: {
        type: oneOf('Type of the Service; None hides it from the notes.', [
          'ClusterIP',
          'NodePort',
          'LoadBalancer',
          'ExternalName',
          'None',
        ]),
      },
    }),
    port: port('Port that clients use; 0 means the usual one.', 0),
    nodePort: port('Port on every node; 0 lets Kubernetes choose.', 0),
  });

const pods = (description: string): Schema => ({
  description,
  type: ['integer', 'string', 'null'],
  pattern: '^([0-9]+|[0-9]{1,3}%)$',
  minimum: 0,
});

export const budget = closed('A PodDisruptionBudget, if there is more than one replica.', {
  enabled: flag('Create it.'),
  minAvailable: pods('Minimum number of available pods.'),
  maxUnavailable: pods('Maximum number of unavailable pods; takes precedence over minAvailable.'),
});

export const replicas = (of: string): Schema => whole(`How many pods of ${of}.`, { minimum: 0 });

/** Helm puts these beside the values of every chart. */
export const helmsOwn = { global: anyMap('Values that charts share; not used here.') };
