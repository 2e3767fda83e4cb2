/** The x-kubernetes-validations of one schema node, compiled once. */
import { compile, type Program } from '../../cel/compile.ts';
import { CelCompileError } from '../../cel/errors.ts';
import { schemaType } from '../../cel/schema-types.ts';
import { type CelType, optionalOf } from '../../cel/types.ts';
import type { Schema, ValidationRule } from '../../schema/schema.ts';

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined when the rule does not compile; `fault` says why. */
  readonly program: Program | undefined;
  readonly fault: string | undefined;
  readonly message: Program | undefined;
  readonly messageFault: string | undefined;
  /** Uses oldSelf: runs only where there was a value before. */
  readonly isTransition: boolean;
}

const compiled = new WeakMap<Schema, readonly CompiledRule[]>();

export function rulesOf(schema: Schema, isRoot: boolean): readonly CompiledRule[] {
  const rules = schema['x-kubernetes-validations'];
  if (rules === undefined || rules.length === 0) return [];
  const known = compiled.get(schema);
  if (known) return known;
  const type = schemaType(schema, isRoot);
  const made = rules.map((rule) => compileRule(rule, type));
  compiled.set(schema, made);
  return made;
}

function compileRule(rule: ValidationRule, type: CelType | undefined): CompiledRule {
  const scope = new Map<string, CelType>();
  if (type) {
    scope.set('self', type);
    scope.set('oldSelf', rule.optionalOldSelf === true ? optionalOf(type) : type);
  }
  const { program, fault } = tryCompile(rule.rule, scope);
  const expression = rule.messageExpression ?? '';
  const message = expression === '' ? undefined : tryCompile(expression, scope);
  return {
    rule,
    program,
    fault,
    message: message?.program,
    messageFault: message?.fault,
    isTransition: program?.uses.has('oldSelf') ?? false,
  };
}

function tryCompile(
  source: string,
  scope: ReadonlyMap<string, CelType>,
): { program?: Program; fault?: string } & {
  program: Program | undefined;
  fault: string | undefined;
} {
  try {
    return { program: compile(source, scope), fault: undefined };
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    return { program: undefined, fault: error.message };
  }
}
