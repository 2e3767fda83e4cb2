/**
 * The fixtures of `testdata/fixtures/<kind>.yaml`: what is accepted, what is refused and with which words, and
 * which changes are allowed. Each case is a merge patch on the file's base manifest.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { kinds } from '../src/kinds/index.ts';
import type { KindDefinition } from '../src/schema/kind.ts';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec?: object;
  status?: object;
}

export interface Fixture {
  readonly name: string;
  readonly definition: KindDefinition;
  readonly object: Manifest;
  /** The stored object, when the case is an update. */
  readonly old?: Manifest;
  /** Words of the refusal; absent when the object is accepted. */
  readonly refused?: string;
}

interface Case {
  readonly name: string;
  /** A merge patch on the base: the object that is sent. */
  readonly with?: object;
  /** The object that is sent, if it does not use the base. */
  readonly object?: Manifest;
  /** A merge patch on the base: what is stored already. Makes the case an update. */
  readonly from?: object;
  readonly refused?: string;
}

interface FixtureFile {
  readonly base: Manifest;
  readonly cases: readonly Case[];
}

const testdata = join(import.meta.dirname, '../testdata');

export function loadFixtures(): Fixture[] {
  return globSync('fixtures/*.yaml', { cwd: testdata })
    .toSorted()
    .flatMap((file) => {
      const { base, cases } = parse(readFileSync(join(testdata, file), 'utf8')) as FixtureFile;
      return cases.map((one): Fixture => {
        const object = one.object ?? (mergePatch(base, one.with ?? {}) as Manifest);
        return {
          name: `${object.kind}: ${one.name}`,
          definition: definitionOf(object.kind),
          object,
          ...(one.from === undefined ? {} : { old: mergePatch(base, one.from) as Manifest }),
          ...(one.refused === undefined ? {} : { refused: one.refused }),
        };
      });
    });
}

/** Manifests that users of upstream have written. */
export function loadUserManifests(): Manifest[] {
  return globSync('manifests/*.yaml', { cwd: testdata })
    .toSorted()
    .flatMap((file) =>
      readFileSync(join(testdata, file), 'utf8')
        .split(/^---$/m)
        .map((document) => parse(document) as Manifest | null)
        .filter((manifest) => manifest !== null),
    );
}

export function definitionOf(kind: string): KindDefinition {
  const definition = kinds.find((one) => one.kind === kind);
  if (definition === undefined) throw new Error(`there is no kind ${kind}`);
  return definition;
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return structuredClone(patch);
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target)
      ? structuredClone({ ...target })
      : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = mergePatch(result[key], value);
  }
  return result;
}
