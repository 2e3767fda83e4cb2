/** The volume that keeps slurmctld's state: an existing claim, or the specification of a new one. */
import { Type } from 'typebox';
import { flag, list, mapOf, object, optional, text } from '../schema/fields.ts';

const quantities = (description: string) =>
  optional(
    mapOf(
      Type.Unsafe<number | string>({
        'x-kubernetes-int-or-string': true,
        description: 'A quantity such as 10Gi.',
        pattern:
          '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
      }),
      { description },
    ),
  );

const source = {
  apiGroup: optional(text({ description: 'API group of the source; defaults to the core group.' })),
  kind: text({ description: 'Kind of the source.' }),
  name: text({ description: 'Name of the source.' }),
};

const labelSelector = object(
  {
    matchLabels: optional(
      mapOf(text({ description: 'Value of the label.' }), {
        description: 'Labels that must have these values.',
      }),
    ),
    matchExpressions: optional(
      list(
        object(
          {
            key: text({ description: 'Label key.' }),
            operator: text({ description: 'In, NotIn, Exists or DoesNotExist.' }),
            values: optional(
              list(text({ description: 'One value.' }), {
                description: 'Values for In and NotIn.',
                merge: 'atomic',
              }),
            ),
          },
          { description: 'One requirement.' },
        ),
        { description: 'Requirements that must all be met.', merge: 'atomic' },
      ),
    ),
  },
  { description: 'Selects volumes by their labels.', atomic: true },
);

export const persistence = object(
  {
    enabled: flag({
      description: 'Stores the state in a volume. Without it, a restart of slurmctld loses every job.',
      default: true,
    }),
    existingClaim: optional(
      text({
        description: 'Name of an existing PersistentVolumeClaim. If absent, one is created.',
        maxLength: 253,
      }),
    ),
    fixOwnership: optional(
      flag({
        description:
          'Runs an init container as root that changes the owner of the volume to the slurm user. For volumes that ignore fsGroup, such as hostPath and many NFS provisioners. Defaults to false.',
      }),
    ),
    accessModes: optional(
      list(text({ description: 'One access mode.' }), {
        description: 'Access modes of the volume.',
        merge: 'atomic',
      }),
    ),
    dataSource: optional(
      object(source, { description: 'Source of the initial content of the volume.', atomic: true }),
    ),
    dataSourceRef: optional(
      object(
        { ...source, namespace: optional(text({ description: 'Namespace of the source.' })) },
        {
          description:
            'Source of the initial content of the volume, including kinds that dataSource does not allow.',
        },
      ),
    ),
    resources: optional(
      object(
        { limits: quantities('Maximum storage.'), requests: quantities('Requested storage.') },
        { description: 'Size of the volume.' },
      ),
    ),
    selector: optional(labelSelector),
    storageClassName: optional(text({ description: 'Storage class of the volume.' })),
    volumeAttributesClassName: optional(text({ description: 'Attributes class of the volume.' })),
    volumeMode: optional(text({ description: 'Filesystem or Block.' })),
    volumeName: optional(text({ description: 'Name of the PersistentVolume to bind.' })),
  },
  { description: 'The volume of StateSaveLocation.', default: {} },
);
