/** Checks the rules a definition brings along: that they compile, answer a bool, and cannot cost too much. */

import type { FieldFault } from '../../api/errors.ts';
import { mostOccurrences } from '../../cel/schema-types.ts';
import type { Json, Schema, ValidationRule } from '../../schema/schema.ts';
import { type CompiledRule, rulesOf } from './compiled-rules.ts';
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from './faults.ts';
import { validFieldPath } from './field-path.ts';

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

interface Position {
  readonly isRoot: boolean;
  /** How many values of this schema one object can hold; undefined where a list or map above has no bound. */
  readonly times: number | undefined;
  /** The list above whose items cannot be told apart, if there is one. */
  readonly uncorrelatable: string | undefined;
}

function visit(schema: Schema, path: string, position: Position, survey: Survey): void {
  for (const [index, compiled] of rulesOf(schema, position.isRoot).entries())
    checkRule(compiled, schema, `${path}.x-kubernetes-validations[${index}]`, position, survey);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    visit(property, `${path}.properties[${name}]`, { ...position, isRoot: false }, survey);
  const times = inside(position.times, schema.items ? schema.maxItems : schema.maxProperties);
  if (schema.items) {
    const isKeyed = schema['x-kubernetes-list-type'] === 'map';
    const uncorrelatable = position.uncorrelatable ?? (isKeyed ? undefined : path);
    visit(schema.items, `${path}.items`, { isRoot: false, times, uncorrelatable }, survey);
  }
  if (typeof schema.additionalProperties === 'object')
    visit(
      schema.additionalProperties,
      `${path}.additionalProperties`,
      { ...position, isRoot: false, times },
      survey,
    );
}

function inside(times: number | undefined, most: number | undefined): number | undefined {
  return times === undefined || most === undefined ? undefined : times * most;
}

function checkRule(
  compiled: CompiledRule,
  schema: Schema,
  path: string,
  position: Position,
  { faults, costs }: Survey,
): void {
  const { rule, program } = compiled;
  const field = `${path}.rule`;
  if (rule.rule.trim() === '') {
    faults.push(requiredValue(field, 'rule is not specified'));
    return;
  }
  const texts = checkTexts(rule, schema, path);
  if (texts.length > 0) {
    faults.push(...texts);
    return;
  }
  if (!program) {
    faults.push(invalidValue(field, shownRule(rule), `compilation failed: ${compiled.fault}`));
    checkMessage(compiled, `${path}.messageExpression`, { faults, costs });
  } else if (program.type.kind !== 'bool') {
    faults.push(invalidValue(field, shownRule(rule), 'cel expression must evaluate to a bool'));
  } else {
    const cost = program.cost * (position.times ?? mostOccurrences(schema));
    costs.push({ field, cost });
    if (cost > ruleLimit)
      faults.push(forbiddenField(field, overBudget('estimated rule cost', cost, ruleLimit)));
    checkMessage(compiled, `${path}.messageExpression`, { faults, costs });
    if (compiled.isTransition && position.uncorrelatable !== undefined)
      faults.push(
        invalidValue(
          field,
          rule.rule,
          `oldSelf cannot be used on the uncorrelatable portion of the schema within ${position.uncorrelatable}`,
        ),
      );
    if (!compiled.isTransition && rule.optionalOldSelf !== undefined)
      faults.push(
        invalidValue(
          `${path}.optionalOldSelf`,
          rule.optionalOldSelf,
          'may not be set if oldSelf is not used in rule',
        ),
      );
  }
}

function checkMessage(compiled: CompiledRule, field: string, { faults, costs }: Survey): void {
  const { rule, message, messageFault } = compiled;
  if (messageFault !== undefined)
    faults.push(
      invalidValue(field, shownRule(rule), `messageExpression compilation failed: ${messageFault}`),
    );
  else if (message && message.type.kind !== 'string')
    faults.push(invalidValue(field, shownRule(rule), 'messageExpression must evaluate to a string'));
  else if (message) {
    // A message is made once, so it counts once, however often the rule can run.
    costs.push({ field, cost: message.cost });
    if (message.cost > ruleLimit)
      faults.push(
        forbiddenField(field, overBudget('estimated messageExpression cost', message.cost, ruleLimit)),
      );
  }
}

function checkTexts(
  { rule, message = '', messageExpression = '', reason, fieldPath = '' }: ValidationRule,
  schema: Schema,
  path: string,
): FieldFault[] {
  const faults: FieldFault[] = [];
  const said = message.trim();
  if (message !== '' && said === '')
    faults.push(invalidValue(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (/[\n\r]/.test(said))
    faults.push(invalidValue(`${path}.message`, message, 'message must not contain line breaks'));
  else if (/[\n\r]/.test(rule.trim()) && said === '')
    faults.push(requiredValue(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (messageExpression !== '' && messageExpression.trim() === '')
    faults.push(
      requiredValue(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'),
    );
  if (reason !== undefined && !reasons.includes(reason))
    faults.push(unsupportedValue(`${path}.reason`, reason, reasons.toSorted()));
  if (fieldPath !== '' && fieldPath.trim() === '')
    faults.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  if (/[\n\r]/.test(fieldPath))
    faults.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (fieldPath !== '' && 'fault' in validFieldPath(fieldPath, schema))
    faults.push(invalidValue(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
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
