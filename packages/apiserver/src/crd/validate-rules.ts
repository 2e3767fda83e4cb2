/** Checks the rules a definition brings along: that they compile, answer a bool, and cannot cost too much. */
import type { FieldFault } from '../errors.ts';
import type { Json, Schema, ValidationRule } from '../schema/schema.ts';
import { type CompiledRule, rulesOf } from './compiled-rules.ts';
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from './faults.ts';
import { mostValues } from './most-values.ts';

const ruleLimit = 10_000_000;
const totalLimit = 100_000_000;
const reasons = ['FieldValueRequired', 'FieldValueInvalid', 'FieldValueForbidden', 'FieldValueDuplicate'];

interface Costly {
  readonly field: string;
  readonly cost: number;
}

interface Survey {
  readonly faults: FieldFault[];
  readonly costs: Costly[];
}

export function validateRules(schema: Schema, root: string): FieldFault[] {
  const survey: Survey = { faults: [], costs: [] };
  visit(schema, root, { isRoot: true, times: 1, uncorrelatable: undefined }, survey);
  const total = survey.costs.reduce((sum, { cost }) => sum + cost, 0);
  if (total > totalLimit) {
    for (const { field } of survey.costs.toSorted((a, b) => b.cost - a.cost).slice(0, 4))
      survey.faults.push(
        forbiddenField(
          field,
          'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
        ),
      );
    survey.faults.push(
      forbiddenField(
        root,
        overBudget(
          'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
          total,
          totalLimit,
        ),
      ),
    );
  }
  return survey.faults;
}

interface Surrounding {
  readonly isRoot: boolean;
  /** How many values of this schema one object can hold. */
  readonly times: number;
  /** The list above whose items cannot be told apart, if there is one. */
  readonly uncorrelatable: string | undefined;
}

function visit(schema: Schema, path: string, around: Surrounding, survey: Survey): void {
  for (const [index, compiled] of rulesOf(schema, around.isRoot).entries())
    checkRule(compiled, `${path}.x-kubernetes-validations[${index}]`, around, survey);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    visit(property, `${path}.properties[${name}]`, { ...around, isRoot: false }, survey);
  const times = around.times * mostValues(schema);
  if (schema.items) {
    const isKeyed = schema['x-kubernetes-list-type'] === 'map';
    const uncorrelatable = around.uncorrelatable ?? (isKeyed ? undefined : path);
    visit(schema.items, `${path}.items`, { isRoot: false, times, uncorrelatable }, survey);
  }
  if (typeof schema.additionalProperties === 'object')
    visit(
      schema.additionalProperties,
      `${path}.additionalProperties`,
      { ...around, isRoot: false, times },
      survey,
    );
}

function checkRule(
  compiled: CompiledRule,
  path: string,
  around: Surrounding,
  { faults, costs }: Survey,
): void {
  const { rule, program } = compiled;
  const field = `${path}.rule`;
  if (rule.rule.trim() === '') {
    faults.push(requiredValue(field, 'rule is not specified'));
    return;
  }
  faults.push(...checkTexts(rule, path));
  if (!program) {
    faults.push(invalidValue(field, shownRule(rule), `compilation failed: ${compiled.fault}`));
  } else if (program.type.kind !== 'bool' && program.type.kind !== 'dyn') {
    faults.push(invalidValue(field, shownRule(rule), 'cel expression must evaluate to a bool'));
  } else {
    const cost = program.cost * around.times;
    costs.push({ field, cost });
    if (cost > ruleLimit)
      faults.push(forbiddenField(field, overBudget('estimated rule cost', cost, ruleLimit)));
    if (compiled.isTransition && around.uncorrelatable !== undefined)
      faults.push(
        invalidValue(
          field,
          rule.rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${around.uncorrelatable}`,
        ),
      );
  }
  checkMessage(compiled, `${path}.messageExpression`, around, faults);
}

function checkMessage(
  compiled: CompiledRule,
  field: string,
  around: Surrounding,
  faults: FieldFault[],
): void {
  const { rule, message, messageFault } = compiled;
  if (messageFault !== undefined)
    faults.push(
      invalidValue(field, shownRule(rule), `messageExpression compilation failed: ${messageFault}`),
    );
  else if (message && message.type.kind !== 'string' && message.type.kind !== 'dyn')
    faults.push(invalidValue(field, shownRule(rule), 'messageExpression must evaluate to a string'));
  else if (message && message.cost * around.times > ruleLimit)
    faults.push(
      forbiddenField(
        field,
        overBudget('estimated messageExpression cost', message.cost * around.times, ruleLimit),
      ),
    );
}

function checkTexts({ message, reason }: ValidationRule, path: string): FieldFault[] {
  const faults: FieldFault[] = [];
  if (message !== undefined && message !== '' && message.trim() === '')
    faults.push(invalidValue(`${path}.message`, message, 'message must be non-empty if specified'));
  if (message?.includes('\n'))
    faults.push(invalidValue(`${path}.message`, message, 'message must not contain line breaks'));
  if (reason !== undefined && !reasons.includes(reason))
    faults.push(unsupportedValue(`${path}.reason`, reason, reasons.toSorted()));
  return faults;
}

/** The rule with every field there is, as the real server prints it. */
function shownRule(rule: ValidationRule): Json {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}

function overBudget(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown =
    factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `up to ${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}
