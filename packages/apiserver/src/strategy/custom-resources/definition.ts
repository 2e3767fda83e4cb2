/** A CustomResourceDefinition as it is stored. */

import type { KubeObject } from '../../api/types.ts';
import type { PrinterColumn } from '../../resource/resource-definition.ts';
import type { Schema } from '../../schema/schema.ts';

export interface CustomNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

export interface CustomVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: { status?: object; scale?: ScalePaths };
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface CustomCondition {
  type: string;
  status: 'True' | 'False';
  lastTransitionTime: string;
  reason: string;
  message: string;
}

export interface CustomConversion {
  strategy: string;
  webhook?: {
    clientConfig?: {
      url?: string;
      service?: { name?: string; namespace?: string; path?: string; port?: number };
    };
    conversionReviewVersions?: string[];
  };
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    names: CustomNames;
    scope: string;
    versions: CustomVersion[];
    conversion?: CustomConversion;
    preserveUnknownFields?: boolean;
  };
  status: {
    conditions: CustomCondition[] | null;
    acceptedNames: CustomNames;
    storedVersions: string[] | null;
  };
}

export const definitionsStorage = 'apiextensions.k8s.io/customresourcedefinitions';
export const definitionsResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
} as const;
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

export function conditionOf(crd: CustomResourceDefinition, type: string): CustomCondition | undefined {
  return crd.status.conditions?.find((condition) => condition.type === type);
}

export function isEstablished(crd: CustomResourceDefinition): boolean {
  return conditionOf(crd, 'Established')?.status === 'True';
}
