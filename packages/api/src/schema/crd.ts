/** The CustomResourceDefinition of a kind. */
import { category, group, version } from '../well-known.ts';
import type { KindDefinition } from './kind.ts';
import { type StructuralSchema, structural } from './structural.ts';

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames: string[];
      categories: string[];
    };
    scope: 'Namespaced';
    versions: CustomResourceDefinitionVersion[];
  };
}

export interface CustomResourceDefinitionVersion {
  name: string;
  served: true;
  storage: true;
  schema: { openAPIV3Schema: StructuralSchema };
  subresources: Record<string, object>;
  additionalPrinterColumns: object[];
}

export function customResourceDefinition(definition: KindDefinition): CustomResourceDefinition {
  const { kind, plural, singular, shortNames } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { 'app.kubernetes.io/part-of': 'slurm-operator' } },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        shortNames: [...shortNames],
        categories: [category],
      },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: rootSchema(definition) },
          subresources: {
            status: {},
            ...(definition.scalable
              ? {
                  scale: {
                    specReplicasPath: '.spec.replicas',
                    statusReplicasPath: '.status.replicas',
                    labelSelectorPath: '.status.selector',
                  },
                }
              : {}),
          },
          additionalPrinterColumns: definition.columns.map(({ priority = 0, ...column }) => ({
            ...column,
            priority,
          })),
        },
      ],
    },
  };
}

/** The schema of the whole object, as the API server checks it. */
export function rootSchema(definition: KindDefinition): StructuralSchema {
  return {
    description: definition.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: `Version of the format: ${group}/${version}.` },
      kind: { type: 'string', description: `Kind of the object: ${definition.kind}.` },
      metadata: { type: 'object' },
      spec: structural(definition.spec),
      status: structural(definition.status),
    },
    ...(definition.rules.length > 0 ? { 'x-kubernetes-validations': [...definition.rules] } : {}),
  };
}
