/** Pieces of Kubernetes' own objects that a user may override. They are stored as written. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IServiceSpec } from 'kubernetes-models/v1/ServiceSpec';
import type { TProperties } from 'typebox';
import { integer, nullableMap, object, open, optional, text } from '../schema/fields.ts';

const metadata = (of: string) =>
  object(
    {
      labels: optional(
        nullableMap(text({ description: 'Value of the label.' }), { description: `Labels added to ${of}.` }),
      ),
      annotations: optional(
        nullableMap(text({ description: 'Value of the annotation.' }), {
          description: `Annotations added to ${of}.`,
        }),
      ),
    },
    { description: `Labels and annotations added to ${of}.` },
  );

/** A user's part of a container: everything may be left out. */
export type ContainerOverride = Partial<IContainer>;
/** A user's part of a pod's specification: everything may be left out. */
export type PodSpecOverride = Partial<IPodSpec>;

export const container = (description: string) => optional(open<ContainerOverride>({ description }));

/** `leaves` declares the fields of the pod's specification that a rule reads. */
export const podTemplate = (leaves: TProperties = {}) =>
  optional(
    object(
      {
        metadata: optional(metadata('the pods')),
        spec: optional(
          open<PodSpecOverride>(
            {
              description:
                'A PodSpec that is merged into the generated one: containers, volumes and environment are merged by name, tolerations and affinity are added.',
            },
            leaves,
          ),
        ),
      },
      { description: 'Overrides of the pods.' },
    ),
  );

export const service = (what: string, defaultPort: number) =>
  optional(
    object(
      {
        metadata: optional(metadata('the Service')),
        spec: optional(
          open<Partial<IServiceSpec>>({
            description: 'A ServiceSpec that is merged into the generated one. externalIPs is ignored.',
          }),
        ),
        port: optional(
          integer({
            description: `Port that clients connect to. Defaults to ${defaultPort}; 0 also means the default.`,
            minimum: 0,
            maximum: 65_535,
          }),
        ),
        nodePort: optional(
          integer({
            description:
              'Port on every node, for a Service of type NodePort or LoadBalancer. If absent or 0, Kubernetes chooses one.',
            minimum: 0,
            maximum: 65_535,
          }),
        ),
      },
      { description: `Overrides of the Service of ${what}.` },
    ),
  );
