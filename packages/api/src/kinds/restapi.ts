/** RestApi: slurmrestd in front of a Controller. */
import { integer, object } from '../schema/fields.ts';
import { ageColumn, defineKind, readyColumns, reasonColumn, type StoredObject } from '../schema/kind.ts';
import { localReference, named } from '../shared/references.ts';
import { commonStatus, count } from '../shared/status.ts';
import { container, podTemplate, service } from '../shared/templates.ts';
import { nameRules } from '../shared/text-rules.ts';
import { port } from '../well-known.ts';

const spec = object(
  {
    controllerRef: localReference('The Controller of the cluster that is served.', 'Controller', [
      named('controllerRef', 'Controller'),
    ]),
    replicas: integer({ description: 'Number of slurmrestd pods.', default: 1, minimum: 0, format: 'int32' }),
    slurmrestd: container('Overrides of the slurmrestd container: image, resources, arguments, environment.'),
    template: podTemplate(),
    service: service('slurmrestd', port.slurmrestd),
  },
  { description: 'Desired state of the REST API.' },
);

const status = object(
  {
    ...commonStatus,
    replicas: count('Number of pods.'),
    readyReplicas: count('Number of pods that respond.'),
  },
  { description: 'Most recently observed state.' },
);

export const restApiKind = defineKind({
  kind: 'RestApi',
  plural: 'restapis',
  singular: 'restapi',
  shortNames: ['slurmrestd'],
  description:
    'slurmrestd: the HTTP interface of a Slurm cluster. The operator also communicates with Slurm through it.',
  spec,
  status,
  scalable: false,
  columns: [
    ...readyColumns,
    {
      name: 'REPLICAS',
      type: 'integer',
      jsonPath: '.status.readyReplicas',
      description: 'Pods that respond.',
    },
    reasonColumn,
    ageColumn,
  ],
  rules: nameRules('RestApi', 55, '"-restapi" is added to it'),
});

export type RestApi = StoredObject<typeof restApiKind>;
