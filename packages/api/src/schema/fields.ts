/**
 * The vocabulary the kinds are written in: TypeBox schemas that carry what a CustomResourceDefinition needs
 * beside their TypeScript type.
 *
 * The static type is that of the *stored* object: a field with a default is always there, so it is not
 * optional in TypeScript although a manifest may leave it out.
 */
import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';

/** One CEL rule of a schema node. `message` is the whole sentence a user reads when the rule refuses. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** A CEL string shown instead of `message`, when the refused value should be quoted. */
  readonly messageExpression?: string;
  /** The field that the error names, if the rule is on its parent. */
  readonly fieldPath?: string;
  readonly reason?:
    | 'FieldValueInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueRequired'
    | 'FieldValueDuplicate';
}

interface Common {
  /** What the field is for, in a sentence or two of our own. It becomes `kubectl explain` and the reference. */
  readonly description: string;
  readonly rules?: readonly Rule[];
}

/** `null` is stored as `null` where upstream's generator says so (lists and maps); elsewhere the server drops it. */
export type Nullable<T extends TSchema> = TUnsafe<Static<T> | null>;

const withRules = ({ rules, ...rest }: Common & Record<string, unknown>): Record<string, unknown> =>
  rules === undefined ? rest : { ...rest, 'x-kubernetes-validations': rules };

/** A field that may be absent from the stored object. */
export const optional: typeof Type.Optional = Type.Optional;

interface TextOptions extends Common {
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly format?: 'date-time';
  readonly default?: string;
}

export const text = (options: TextOptions): TUnsafe<string> =>
  Type.Unsafe<string>({ type: 'string', ...withRules({ ...options }) });

interface IntegerOptions extends Common {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: 'int32' | 'int64';
  readonly default?: number;
}

export const integer = (options: IntegerOptions): TUnsafe<number> =>
  Type.Unsafe<number>({ type: 'integer', ...withRules({ ...options }) });

export const flag = (options: Common & { readonly default?: boolean }): TUnsafe<boolean> =>
  Type.Unsafe<boolean>({ type: 'boolean', ...withRules({ ...options }) });

/** One of a few words. */
export const choice = <const T extends string>(
  values: readonly T[],
  options: Common & { readonly default?: NoInfer<T> },
): TUnsafe<T> => Type.Unsafe<T>({ type: 'string', enum: values, ...withRules({ ...options }) });

/** A count or a percentage, as Kubernetes writes it. */
export const intOrString = (
  options: Common & {
    readonly default?: number | string;
    readonly pattern?: string;
    readonly minimum?: number;
  },
): TUnsafe<number | string> =>
  Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true, ...withRules({ ...options }) });

interface ObjectOptions extends Common {
  readonly default?: Record<string, unknown>;
  readonly nullable?: boolean;
  /** Replaced as a whole by server-side apply (references), instead of field by field. */
  readonly atomic?: boolean;
}

const objectKeywords = ({ atomic, ...options }: ObjectOptions): Record<string, unknown> => ({
  ...withRules({ ...options }),
  ...(atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
});

export const object = <const P extends TProperties>(properties: P, options: ObjectOptions): TObject<P> =>
  Type.Object(properties, objectKeywords(options));

/** As `object`, for the few places where upstream stores an explicit `null`. */
export const nullableObject = <const P extends TProperties>(
  properties: P,
  options: ObjectOptions,
): Nullable<TObject<P>> => Type.Unsafe(object(properties, { ...options, nullable: true }));

/**
 * An object of Kubernetes' own, typed by Kubernetes' types and stored as written, unknown fields included.
 * Only the leaves that a rule must read are declared.
 */
export const open = <T>(options: ObjectOptions, leaves: TProperties = {}): TUnsafe<T> =>
  Type.Unsafe<T>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    ...objectKeywords(options),
    ...(Object.keys(leaves).length > 0 ? { properties: leaves } : {}),
  });

interface ListOptions extends Common {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly nullable?: boolean;
  /** How server-side apply merges: as a whole, as a set of scalars, or by these keys of the items. */
  readonly merge: 'atomic' | 'set' | readonly string[];
}

const listKeywords = ({ merge, ...options }: ListOptions): Record<string, unknown> => ({
  ...withRules({ ...options }),
  ...(typeof merge === 'string'
    ? { 'x-kubernetes-list-type': merge }
    : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': merge }),
});

export const list = <T extends TSchema>(items: T, options: ListOptions): TUnsafe<Static<T>[]> =>
  Type.Unsafe<Static<T>[]>({ type: 'array', items, ...listKeywords(options) });

export const nullableList = <T extends TSchema>(
  items: T,
  options: ListOptions,
): TUnsafe<Static<T>[] | null> =>
  Type.Unsafe<Static<T>[] | null>(list(items, { ...options, nullable: true }));

interface MapOptions extends Common {
  readonly maxProperties?: number;
  readonly nullable?: boolean;
}

export const mapOf = <T extends TSchema>(
  values: T,
  options: MapOptions,
): TUnsafe<Record<string, Static<T>>> =>
  Type.Unsafe<Record<string, Static<T>>>({
    type: 'object',
    additionalProperties: values,
    ...withRules({ ...options }),
  });

export const nullableMap = <T extends TSchema>(
  values: T,
  options: MapOptions,
): TUnsafe<Record<string, Static<T>> | null> =>
  Type.Unsafe<Record<string, Static<T>> | null>(mapOf(values, { ...options, nullable: true }));
