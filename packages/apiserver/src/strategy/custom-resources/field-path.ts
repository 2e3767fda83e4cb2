/** Paths to fields of a schema, as rules and selectable fields name them: `.spec.size`, `.spec['my-key']`. */
import { own, type Schema } from '../../schema/schema.ts';

export type FieldPath =
  | { readonly path: readonly string[]; readonly schema: Schema }
  | { readonly fault: string };

/** Where the path leads, or why it leads nowhere. Brackets may be refused. */
export function validFieldPath(text: string, root: Schema, allowBrackets = true): FieldPath {
  const tokens = text.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g) ?? [];
  const path: string[] = [];
  let schema = root;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token !== '.' && token !== '[') return { fault: `expected [ or . but got: ${token}` };
    if (token === '[' && !allowBrackets) return { fault: 'array notation is not allowed' };
    at += 1;
    const word = tokens[at];
    if (word === undefined) return { fault: 'unexpected end of JSON path' };
    if (token === '[' && !/^'.*'$/s.test(word))
      return { fault: `expected single quoted string but got ${word}` };
    const name = token === '[' ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word;
    const next = fieldOf(schema, name);
    if (next === undefined) return { fault: 'does not refer to a valid field' };
    path.push(name);
    schema = next;
    if (token === '.') continue;
    at += 1;
    if (tokens[at] === undefined) return { fault: 'unexpected end of JSON path' };
    if (tokens[at] !== ']') return { fault: `expected ] but got ${tokens[at]}` };
  }
  return { path, schema };
}

function fieldOf({ properties, additionalProperties }: Schema, name: string): Schema | undefined {
  if (properties !== undefined) return own(properties, name);
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}
