/** Columns and cells for `kubectl get`. */

import type { Json, KubeObject } from '../../api/types.ts';
import type { ResourceDefinition } from '../../resource/resource-definition.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface TablePrinter {
  columns(definition: ResourceDefinition): readonly TableColumn[];
  /** One cell per column. */
  cells(definition: ResourceDefinition, object: KubeObject, now: number): readonly Json[];
}
