/** Bad values: for every leaf of the schemas a wrong one, and helm's answer must name it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before as beforeAll, test } from 'node:test';
import type { Schema } from './generate/schema.ts';
import { type ChartName, chart, Helm } from './src/index.ts';

let helm: Helm;
beforeAll(async () => {
  helm = await Helm.open({ progress: console.log });
});
after(() => helm?.[Symbol.asyncDispose]());

interface Leaf {
  readonly path: readonly string[];
  readonly schema: Schema;
}

/** Every place of a schema where a value stands. A map of named things gets one thing, called x. */
function* leaves(schema: Schema, path: readonly string[] = []): Generator<Leaf> {
  const below = [
    ...Object.entries(schema.properties ?? {}),
    ...(typeof schema.additionalProperties === 'object' ? [['x', schema.additionalProperties] as const] : []),
  ];
  if (below.length === 0) yield { path, schema };
  for (const [name, field] of below) yield* leaves(field, [...path, name]);
}

const typesOf = ({ type }: Schema): readonly string[] =>
  type === undefined || typeof type === 'string' ? [type ?? ''] : type;

/** A value of no type that is allowed. */
function wrongType(schema: Schema): unknown {
  const types = typesOf(schema);
  const candidates: readonly (readonly [string, unknown])[] = [
    ['array', ['wrong']],
    ['object', { wrong: 'wrong' }],
    ['string', 'wrong'],
  ];
  const fits = ([type]: readonly [string, unknown]) => !types.includes(type);
  return candidates.find(fits)?.[1];
}

/** A value of the right type that is not allowed; undefined where every value is. */
function wrongValue(schema: Schema): unknown {
  if (schema.enum !== undefined) return 'no-such-choice';
  if (schema.pattern !== undefined) return '\u0001 wrong \u0001';
  if (schema.maximum !== undefined) return schema.maximum + 1;
  if (schema.minimum !== undefined) return schema.minimum - 1;
  if (schema.minLength !== undefined) return '';
  if (schema.maxLength !== undefined) return 'w'.repeat(schema.maxLength + 1);
  if (schema.items !== undefined && typesOf(schema.items).every((type) => type !== 'array'))
    return [['wrong']];
  return undefined;
}

function put(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let here = values;
  for (const step of path.slice(0, -1)) here = (here[step] ??= {}) as Record<string, unknown>;
  here[path.at(-1) ?? ''] = value;
}

const schemaOf = (name: ChartName) =>
  JSON.parse(readFileSync(`${chart(name)}/values.schema.json`, 'utf8')) as Schema;

/** JSON pointers, as helm prints them. */
const pointer = (path: readonly string[]) =>
  `/${path.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;

/** Helm itself looks at these before any schema does. */
const helmsOwn = new Set(['global', 'slurm-operator-crds']);

for (const own of helmsOwn)
  test(`a wrong type of ${own} is refused by name`, async () => {
    assert.match(await helm.refusal('x', chart('slurm-operator'), { [own]: ['wrong'] }), new RegExp(own));
  });

const charts: readonly ChartName[] = ['slurm', 'slurm-operator', 'slurm-operator-crds'];
for (const name of charts)
  for (const [kind, wrong] of Object.entries({ type: wrongType, value: wrongValue }))
    test(`${name}: a wrong ${kind} of each leaf is refused by name`, async () => {
      const values = {};
      const tried: Leaf[] = [];
      const all = [...leaves(schemaOf(name))].filter(({ path }) => !helmsOwn.has(path[0] ?? ''));
      for (const leaf of all) {
        const value = wrong(leaf.schema);
        if (value === undefined) continue;
        put(values, leaf.path, value);
        tried.push(leaf);
      }
      if (kind === 'type') assert.equal(tried.length, all.length, 'every leaf has a wrong type');
      if (tried.length === 0) return;
      const said = await helm.refusal('x', chart(name), values);
      const unnamed = tried.filter(
        ({ path }) =>
          !new RegExp(`at '${pointer(path).replaceAll(/[.*+?^$()[\]{}|]/g, '\\$&')}[/']`).test(said),
      );
      assert.deepEqual(
        unnamed.map(({ path }) => path.join('.')),
        [],
        said.slice(0, 2000),
      );
      console.log(`${name}: ${tried.length} leaves with a wrong ${kind}, each refused by name`);
    });

test('a value that does not exist is refused, at every level', async () => {
  const said = await helm.refusal('x', chart('slurm'), {
    nodeSets: {},
    controller: { slurmctdl: {} },
    nodesets: { a: { replica: 3 } },
  });
  for (const name of ['nodeSets', 'slurmctdl', 'replica']) assert.match(said, new RegExp(`'${name}'`));
});
