/** JSON Schema for values, in few words. In values a null takes a default away, so it fits everywhere. */

export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

const of =
  (type: string) =>
  (description: string, more: Partial<Schema> = {}): Schema => ({
    description,
    type: [type, 'null'],
    ...more,
  });

export const text = of('string');
export const flag = of('boolean');
export const whole = of('integer');
export const list = of('array');
/** A Kubernetes object: stored as written, validated by the API server. */
export const anyMap = of('object');

/** Of an object, or a key in it. */
export const nameOf = (description: string): Schema => text(description, { pattern: '^[-._A-Za-z0-9]*$' });

export const oneOf = (description: string, choices: readonly string[]): Schema =>
  text(description, { enum: [...choices, null] });

export const port = (description: string, minimum = 1): Schema =>
  whole(description, { minimum, maximum: 65_535 });

/** The same, or as text: `--set-string` and upstream's comments write ports that way. */
export const portOrText = (description: string, minimum = 1): Schema => ({
  ...port(description, minimum),
  type: ['integer', 'string', 'null'],
  pattern: minimum === 0 ? '^(0|[1-9][0-9]{0,4})$' : '^[1-9][0-9]{0,4}$',
});

/** An object with these fields and no other: a misspelt value is refused instead of ignored. */
export const closed = (description: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  description,
  type: ['object', 'null'],
  properties,
  additionalProperties: false,
});

/** A map from names to values of one kind. */
export const mapOf = (description: string, value: Schema, more: Partial<Schema> = {}): Schema =>
  anyMap(description, { additionalProperties: value, ...more });

export const numberOrPercentage = (description: string): Schema => ({
  description,
  type: ['integer', 'string', 'null'],
  pattern: '^[0-9]{1,3}%$',
  minimum: 0,
});

/** Objects of a schema from elsewhere, closed all the way down. */
export function close(schema: Schema): Schema {
  const { properties, additionalProperties, items } = schema;
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [name, close(field)]),
          ),
          additionalProperties: additionalProperties ?? false,
        }),
    ...(items === undefined ? {} : { items: close(items) }),
  };
}
