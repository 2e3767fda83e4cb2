/** The query options that every write shares. */
import { invalidValue, notSupported, tooLong } from '../builtins/fault.ts';
import { type FieldFault, invalid } from '../errors.ts';
import type { RequestContext } from '../ports/request-context.ts';
import type { JsonObject } from '../types.ts';

export interface WriteOptions {
  readonly dryRun: boolean;
  /** Of the request, or the first part of the User-Agent. */
  readonly manager: string;
  readonly explicitManager: boolean;
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** As admission reviews show them. */
  readonly review: JsonObject;
}

export function writeOptions(
  context: RequestContext,
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
): WriteOptions {
  const { query, userAgent } = context;
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  const manager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const faults = [
    ...dryRunFaults(dryRun),
    ...managerFaults(manager),
    ...fieldValidationFaults(fieldValidation),
  ];
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', faults);
  return {
    dryRun: dryRun.length > 0,
    manager: manager === '' ? userAgentManager(userAgent) : manager,
    explicitManager: manager !== '',
    fieldValidation: fieldValidation === 'Strict' || fieldValidation === 'Ignore' ? fieldValidation : 'Warn',
    review: {
      kind,
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun.length > 0 ? { dryRun: ['All'] } : {}),
      ...(query.get('force') === 'true' ? { force: true } : {}),
      ...(manager === '' ? {} : { fieldManager: manager }),
      ...(fieldValidation === '' ? {} : { fieldValidation }),
    },
  };
}

export function dryRunFaults(dryRun: readonly string[]): FieldFault[] {
  if (dryRun.every((value) => value === 'All')) return [];
  const message = `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`;
  return [{ reason: 'FieldValueNotSupported', field: 'dryRun', message }];
}

function managerFaults(manager: string): FieldFault[] {
  if (Buffer.byteLength(manager) > 128) return [tooLong('fieldManager', 128)];
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(manager)
    ? []
    : [invalidValue('fieldManager', manager, 'should only contain printable characters')];
}

function fieldValidationFaults(value: string): FieldFault[] {
  return ['', 'Ignore', 'Strict', 'Warn'].includes(value)
    ? []
    : [notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn'])];
}

/** `kubectl/v1.32 (linux) …` is manager kubectl. */
function userAgentManager(userAgent: string): string {
  const first = userAgent.split('/')[0] ?? '';
  return first.slice(0, 128).replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '');
}
