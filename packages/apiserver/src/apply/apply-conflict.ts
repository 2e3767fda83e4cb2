/** The 409 of an apply that would take fields from others, in the words clients look for. */
import { ApiError, type StatusCause } from '../api/errors.ts';
import { showPath } from './field-set.ts';
import type { Manager } from './managed-fields.ts';
import type { Conflict } from './owners.ts';

export function applyConflict(conflicts: readonly Conflict[]): ApiError {
  const found = conflicts
    .map(({ manager, fields }) => ({ who: describe(manager), paths: [...fields.paths()].map(showPath) }))
    .toSorted((a, b) => (a.who < b.who ? -1 : 1));
  const causes: StatusCause[] = found.flatMap(({ who, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field })),
  );
  const count = causes.length;
  const message = `Apply failed with ${count} conflict${count === 1 ? '' : 's'}: ${summary(found, count)}`;
  return new ApiError(409, 'Conflict', message, { details: { causes } });
}

function summary(found: readonly { who: string; paths: readonly string[] }[], count: number): string {
  if (count === 1) return `conflict with ${found[0]?.who}: ${found[0]?.paths[0]}`;
  return found
    .map(({ who, paths }) => `conflicts with ${who}:\n${paths.map((path) => `- ${path}`).join('\n')}`)
    .join('\n');
}

function describe(manager: Manager): string {
  const name = JSON.stringify(manager.manager);
  const through = manager.subresource === '' ? '' : ` with subresource "${manager.subresource}"`;
  if (manager.operation === 'Apply') return `${name}${through}`;
  return `${name}${through} using ${manager.apiVersion}`;
}
