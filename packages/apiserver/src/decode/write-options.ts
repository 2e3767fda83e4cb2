/** The query options that every write shares. */

import { type FieldFault, invalid } from '../api/errors.ts';
import { invalidValue, notSupported, tooLong } from '../api/fault.ts';
import { isTrue } from '../api/request-info.ts';
import type { JsonObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';

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
      ...(isTrue(query.get('force')) ? { force: true } : {}),
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
  const faults: FieldFault[] = Buffer.byteLength(manager) > 128 ? [tooLong('fieldManager', 128)] : [];
  let position = 0;
  for (const character of manager) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const detail = `invalid character U+${code} (at position ${position})`;
      faults.push(invalidValue('fieldManager', manager, detail));
    }
    position += Buffer.byteLength(character);
  }
  return faults;
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
