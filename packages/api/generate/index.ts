/** Writes everything that follows from the schemas: CRDs. */
import { stringify } from 'yaml';
import { kinds } from '../src/kinds/index.ts';
import { customResourceDefinition } from '../src/schema/crd.ts';
import { group } from '../src/well-known.ts';

const generated = '# Generated from packages/api/src/kinds by `make generate`. Do not edit.\n';

export async function generate(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const definition of kinds)
    files.set(
      `packages/api/generated/crds/${group}_${definition.plural}.yaml`,
      generated +
        stringify(customResourceDefinition(definition), { lineWidth: 0, aliasDuplicateObjects: false }),
    );
  return files;
}
