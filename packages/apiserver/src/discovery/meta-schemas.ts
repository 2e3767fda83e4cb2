/** Types of the machinery that documents of custom resources always name. */
import type { JsonObject } from '../api/types.ts';

const text = { type: 'string' };
const count = { type: 'integer', format: 'int64' };
const texts = { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' };

function object(properties: JsonObject): JsonObject {
  return { type: 'object', properties };
}

export const metaSchemas: Readonly<Record<string, JsonObject>> = {
  DeleteOptions: object({
    apiVersion: text,
    dryRun: texts,
    gracePeriodSeconds: count,
    kind: text,
    orphanDependents: { type: 'boolean' },
    preconditions: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions' },
    propagationPolicy: text,
  }),
  FieldsV1: { type: 'object' },
  ListMeta: object({ continue: text, remainingItemCount: count, resourceVersion: text, selfLink: text }),
  Patch: { type: 'object' },
  Preconditions: object({ resourceVersion: text, uid: text }),
  ShardInfo: { type: 'object' },
  Status: object({
    apiVersion: text,
    code: { type: 'integer', format: 'int32' },
    details: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails' },
    kind: text,
    message: text,
    metadata: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta' },
    reason: text,
    status: text,
  }),
  StatusCause: object({ field: text, message: text, reason: text }),
  StatusDetails: object({
    causes: {
      type: 'array',
      items: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause' },
      'x-kubernetes-list-type': 'atomic',
    },
    group: text,
    kind: text,
    name: text,
    retryAfterSeconds: { type: 'integer', format: 'int32' },
    uid: text,
  }),
  Time: { type: 'string', format: 'date-time' },
};
