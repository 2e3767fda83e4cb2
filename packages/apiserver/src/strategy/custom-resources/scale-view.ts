/** The scale subresource of a custom resource, at the paths its definition names. */
import { ApiError } from '../../api/errors.ts';
import type { KubeObject } from '../../api/types.ts';
import type { PrinterColumn, ViewSubresource } from '../../resource/resource-definition.ts';
import { descriptions } from '../../schema/generated/descriptions.ts';
import type { ScalePaths } from './definition.ts';
import { invalidValue } from './faults.ts';
import { readPath, writePath } from './json-path.ts';

const printerColumns: readonly PrinterColumn[] = [
  { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', description: 'Number of desired replicas' },
  {
    name: 'Available',
    type: 'integer',
    jsonPath: '.status.replicas',
    description: 'Number of actual replicas',
  },
  {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: descriptions['V1ObjectMeta.creationTimestamp'],
  },
];

export function scaleView(paths: ScalePaths): ViewSubresource {
  return {
    type: 'view',
    verbs: ['get', 'patch', 'update'],
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    printerColumns,
    read(object) {
      const replicas = readPath(object, paths.specReplicasPath);
      if (typeof replicas !== 'number')
        throw new ApiError(500, 'InternalError', missing(paths), {
          details: { causes: [{ message: missing(paths).replace(/^Internal error occurred: /, '') }] },
        });
      const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
      const current = readPath(object, paths.statusReplicasPath);
      const selector = paths.labelSelectorPath === undefined ? '' : readPath(object, paths.labelSelectorPath);
      return {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: replicas === 0 ? {} : { replicas },
        status: {
          replicas: typeof current === 'number' ? current : 0,
          ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
        },
      };
    },
    write: (view, object) => writePath(object, paths.specReplicasPath, replicasOf(view)),
    validate(view) {
      const replicas = replicasOf(view);
      return replicas < 0
        ? [invalidValue('.spec.replicas', replicas, 'should be a non-negative integer')]
        : [];
    },
  };
}

function missing({ specReplicasPath }: ScalePaths): string {
  return `Internal error occurred: the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`;
}

function replicasOf(view: KubeObject): number {
  const replicas = readPath(view, '.spec.replicas');
  return typeof replicas === 'number' ? replicas : 0;
}
