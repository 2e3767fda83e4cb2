/** Permissions as sentences, granted and used, to compare the two. */
import type { AuditEntry } from '@slurm-operator/apiserver';
import type { PolicyRule } from '../src/rbac/rules.ts';
import { accountName } from './restricted-config.ts';

const named = (resource: string, group: string) => (group === '' ? resource : `${resource}.${group}`);

/** `verb resource.group` for all that the rules allow. */
export function granted(rules: readonly PolicyRule[]): Set<string> {
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${named(resource, group)}`)),
      ),
    ),
  );
}

/** The same for all that an account did. */
export function used(entries: readonly AuditEntry[], account: string): string[] {
  return entries
    .filter(({ user, resource }) => user === accountName(account) && resource !== '')
    .map(({ verb, resource, subresource, group }) =>
      [verb, named(subresource === '' ? resource : `${resource}/${subresource}`, group)].join(' '),
    );
}
