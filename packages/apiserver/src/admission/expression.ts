/** Expressions over a request: match conditions of webhooks, rules of admission policies. */

import { notImplemented } from '../api/errors.ts';
import { compile, type Program } from '../cel/compile.ts';
import { CelCompileError, CelRuntimeError } from '../cel/errors.ts';
import { type CelType, dyn, showType } from '../cel/types.ts';
import type { CelValue } from '../cel/values.ts';
import { baseScope } from './expression-scope.ts';

/** What an expression may look at. */
export interface ExpressionInput {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  readonly namespaceObject?: unknown;
  readonly params?: unknown;
  readonly variables?: ReadonlyMap<string, CelValue>;
}

const NAMES = ['object', 'oldObject', 'request', 'namespaceObject', 'params', 'variables'] as const;
const SCOPE: ReadonlyMap<string, CelType> = new Map(NAMES.map((name) => [name, dyn]));
const MAXIMUM_KEPT = 1000;

// Configurations live long and are asked on every request, so compiled expressions are kept.
const programs = new Map<string, Program>();

function programOf(source: string): Program {
  const known = programs.get(source);
  if (known) return known;
  const program = compile(source, SCOPE);
  if (programs.size >= MAXIMUM_KEPT) programs.clear();
  programs.set(source, program);
  return program;
}

/**
 * Why an expression cannot be used where a value of `type` is required; nothing when it can. `variables` are the expressions
 * of a policy's variables, in order; without them there is no `variables` to look at.
 */
export function expressionFault(
  source: string,
  type: 'bool' | 'string' | 'any',
  variables?: ReadonlyMap<string, unknown>,
): string | undefined {
  if (/\bauthorizer\b/.test(source)) throw notImplemented('the authorizer in expressions of admission');
  try {
    const { type: given } = compile(source, typedScope(variables));
    if (type === 'any' || given.kind === type) return undefined;
    return `must evaluate to ${type} but got ${showType(given)}`;
  } catch (error) {
    if (error instanceof CelCompileError) return `compilation failed: ${error.message}`;
    throw error;
  }
}

function typedScope(variables: ReadonlyMap<string, unknown> | undefined): Map<string, CelType> {
  const scope = new Map(baseScope);
  if (variables === undefined) return scope;
  const fields = new Map<string, CelType>();
  scope.set('variables', { kind: 'object', name: 'kubernetes.variables', fields });
  for (const [name, source] of variables) fields.set(name, typeOf(String(source), scope));
  return scope;
}

/** A variable that does not compile is reported on its own; expressions that use it are not reported again. */
function typeOf(source: string, scope: ReadonlyMap<string, CelType>): CelType {
  try {
    return compile(source, scope).type;
  } catch (error) {
    if (error instanceof CelCompileError) return dyn;
    throw error;
  }
}

export type Evaluation = { readonly value: CelValue } | { readonly fault: string };

export function evaluate(source: string, input: ExpressionInput): Evaluation {
  try {
    const frame = new Map<string, CelValue>(
      NAMES.map((name) => [
        name,
        name === 'variables' ? new Map<CelValue, CelValue>(input.variables ?? []) : toCelValue(input[name]),
      ]),
    );
    return { value: programOf(source).run(frame) };
  } catch (error) {
    if (error instanceof CelRuntimeError || error instanceof CelCompileError) return { fault: error.message };
    throw error;
  }
}

/** JSON as expressions see it: whole numbers are integers, objects are maps. */
function toCelValue(value: unknown): CelValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(toCelValue);
  return new Map(
    Object.entries(value)
      .filter(([, item]) => item !== undefined && item !== null)
      .map(([key, item]) => [key, toCelValue(item)]),
  );
}
