/** Every function an expression may call, by name. */
import { kubernetesFunctions } from './functions-kubernetes.ts';
import { listFunctions } from './functions-lists.ts';
import { operatorFunctions } from './functions-operators.ts';
import { textFunctions } from './functions-text.ts';
import type { Overload } from './signature.ts';

const byName = new Map<string, Overload[]>();
for (const each of [...operatorFunctions, ...textFunctions, ...listFunctions, ...kubernetesFunctions]) {
  const same = byName.get(each.name);
  if (same) same.push(each);
  else byName.set(each.name, [each]);
}

export function overloadsOf(name: string, isMember: boolean): readonly Overload[] {
  return byName.get(name)?.filter((each) => (each.receiver !== undefined) === isMember) ?? [];
}

/** Names such as `sets` or `ip` that stand before a dot without being values. */
export function isNamespace(name: string): boolean {
  return namespaces.has(name);
}

const namespaces = new Set(['optional', 'sets', 'strings', 'format', 'ip', 'cel', 'math', 'lists']);
