/** The volume that keeps slurmctld's state: an existing claim, or the specification of one to make. */
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
  apiGroup: optional(text({ description: 'API group of the source; absent means the core group.' })),
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
            key: text({ description: 'Label that is looked at.' }),
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
        { description: 'Requirements that must all hold.', merge: 'atomic' },
      ),
    ),
  },
  { description: 'Selects volumes by their labels.', atomic: true },
);

export const persistence = object(
  {
    enabled: flag({
      description: 'Whether the state outlives the pod. Without it a restart forgets every job.',
      default: true,
    }),
    existingClaim: optional(
      text({
        description: 'Name of a PersistentVolumeClaim to use. Absent means that one is made.',
        maxLength: 253,
      }),
    ),
    fixOwnership: optional(
      flag({
        description:
          'Runs an init container as root that gives the volume to the slurm user. For volumes that ignore fsGroup, such as hostPath and many NFS provisioners. Absent means false.',
      }),
    ),
    accessModes: optional(
      list(text({ description: 'One access mode.' }), {
        description: 'Access modes of the volume.',
        merge: 'atomic',
      }),
    ),
    dataSource: optional(object(source, { description: 'What the volume is filled from.', atomic: true })),
    dataSourceRef: optional(
      object(
        { ...source, namespace: optional(text({ description: 'Namespace of the source.' })) },
        { description: 'What the volume is filled from, where other kinds are allowed.' },
      ),
    ),
    resources: optional(
      object(
        { limits: quantities('The most storage.'), requests: quantities('The storage that is asked for.') },
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
