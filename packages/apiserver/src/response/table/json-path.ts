/** The JSONPath of printer columns: `.a.b`, `['a.b']`, `[0]`, `[-1]`, `[*]` and `[?(@.type=="Ready")]`. */
import { isObject } from '../../api/json.ts';

type Step = (values: readonly unknown[]) => unknown[];

const most = 1000;
const parsed = new Map<string, readonly Step[]>();

/** All values at the path; empty for a path that does not fit or cannot be read. */
export function findAll(root: unknown, path: string): unknown[] {
  let steps = parsed.get(path);
  if (steps === undefined) {
    steps = parsePath(path);
    if (parsed.size >= most) parsed.clear();
    parsed.set(path, steps);
  }
  return steps.reduce<unknown[]>((values, step) => step(values), [root]);
}

const pieces =
  /\.([A-Za-z_$][\w-]*)|\['([^']*)'\]|\["([^"]*)"\]|\[(-?\d+)\]|\[\*\]|\.\*|\[\?\(\s*@([\w.'"[\]-]+)\s*(==|!=|>=|<=|>|<)\s*("[^"]*"|'[^']*'|[\w.-]+)\s*\)\]/g;

function parsePath(path: string): Step[] {
  const steps: Step[] = [];
  for (const match of path.replaceAll(String.raw`\.`, '.').matchAll(pieces)) {
    const [text, name, single, double, index, field, operator, literal] = match;
    const key = name ?? single ?? double;
    if (key !== undefined) steps.push((values) => values.flatMap((value) => property(value, key)));
    else if (index !== undefined)
      steps.push((values) => values.flatMap((value) => item(value, Number(index))));
    else if (field !== undefined && operator !== undefined && literal !== undefined)
      steps.push((values) => values.flatMap((value) => filtered(value, field, operator, literal)));
    else if (text === '[*]' || text === '.*') steps.push((values) => values.flatMap(children));
  }
  return steps;
}

function property(value: unknown, key: string): unknown[] {
  return isObject(value) && value[key] !== undefined ? [value[key]] : [];
}

function item(value: unknown, index: number): unknown[] {
  if (!Array.isArray(value)) return [];
  const found: unknown = value.at(index);
  return found === undefined ? [] : [found];
}

function children(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

function filtered(value: unknown, field: string, operator: string, literal: string): unknown[] {
  const wanted = literal.replace(/^(["'])(.*)\1$/, '$2');
  return children(value).filter((child) =>
    findAll(child, field.startsWith('.') ? field : `.${field}`).some((found) =>
      holds(found, operator, wanted),
    ),
  );
}

function holds(found: unknown, operator: string, wanted: string): boolean {
  if (typeof found !== 'string' && typeof found !== 'number' && typeof found !== 'boolean') return false;
  const text = String(found);
  switch (operator) {
    case '==':
      return text === wanted;
    case '!=':
      return text !== wanted;
    case '>':
      return Number(text) > Number(wanted);
    case '<':
      return Number(text) < Number(wanted);
    case '>=':
      return Number(text) >= Number(wanted);
    default:
      return Number(text) <= Number(wanted);
  }
}
