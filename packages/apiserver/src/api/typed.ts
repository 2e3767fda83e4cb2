/**
 * Between the store, which holds objects of every kind, and code that knows one kind. The schema of the kind was enforced when the object
 * was decoded or stored, which the type of `KubeObject` cannot express. Casts of this sort belong here and nowhere else.
 */
// oxlint-disable typescript/no-unnecessary-type-parameters -- the caller names the type, that is the purpose
import type { Json, JsonObject, KubeObject } from './types.ts';

/** An object as the type of its kind. */
export function typed<T>(object: KubeObject): T;
export function typed<T>(object: KubeObject | undefined): T | undefined;
export function typed<T>(object: KubeObject | undefined): T | undefined {
  return object as T | undefined;
}

/** The objects of one resource as the type of their kind. */
export const typedList = <T>(objects: readonly KubeObject[]): readonly T[] =>
  objects as readonly unknown[] as readonly T[];

/** A value of a known kind as an object of the store. */
export const untyped = (object: object): KubeObject => object as KubeObject;

/** An object as the JSON that it is: for schemas, merges and comparisons. */
export function asJson(object: object): JsonObject;
export function asJson(object: object | undefined): Json | undefined;
export function asJson(object: object | undefined): Json | undefined {
  return object as JsonObject | undefined;
}
