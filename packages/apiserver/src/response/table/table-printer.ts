/** Columns and cells of every resource: those of its kind, those its definition asks for, else name and age. */

import type { Json, KubeObject } from '../../api/types.ts';
import type { ResourceDefinition } from '../../resource/resource-definition.ts';
import { clusterColumns } from './cluster-columns.ts';
import { ageColumn, type Column, nameColumn, type TableColumn } from './columns.ts';
import { customCells, customColumns } from './custom-columns.ts';
import { networkColumns } from './network-columns.ts';
import { podColumns } from './pod-columns.ts';
import {
  cronJobColumns,
  daemonSetColumns,
  deploymentColumns,
  jobColumns,
  replicaSetColumns,
  revisionColumns,
  statefulSetColumns,
} from './workload-columns.ts';

const builtin: Readonly<Record<string, readonly Column[]>> = {
  ...clusterColumns,
  ...networkColumns,
  Pod: podColumns,
  Deployment: deploymentColumns,
  StatefulSet: statefulSetColumns,
  ReplicaSet: replicaSetColumns,
  DaemonSet: daemonSetColumns,
  Job: jobColumns,
  CronJob: cronJobColumns,
  ControllerRevision: revisionColumns,
};

export function tableColumns(definition: ResourceDefinition): readonly TableColumn[] {
  return definition.custom
    ? [nameColumn.definition, ...customColumns(definition.printerColumns)]
    : columnsOf(definition).map((column) => column.definition);
}

/** One cell per column. */
export function tableCells(definition: ResourceDefinition, object: KubeObject, now: number): readonly Json[] {
  return definition.custom
    ? [object.metadata.name ?? '', ...customCells(definition.printerColumns, object, now)]
    : columnsOf(definition).map((column) => column.cell(object, now));
}

function columnsOf({ kind }: ResourceDefinition): readonly Column[] {
  return builtin[kind] ?? [nameColumn, ageColumn];
}
