/** Writes everything that follows from the schemas: CRDs, the policy, the reference, the values schema. */
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { clusterNamePolicy } from '../src/cluster-name-policy.ts';
import { kinds } from '../src/kinds/index.ts';
import { customResourceDefinition } from '../src/schema/crd.ts';
import { group } from '../src/well-known.ts';
import { withReasons } from './reasons-page.ts';
import { conditionsPage, indexPage, kindPage } from './reference.ts';
import { valuesSchema } from './values-schema.ts';

const generated = '# Generated from packages/api by `make generate`. Do not edit.\n';
const yaml = (object: object): string =>
  stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });

export async function generate(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const definition of kinds) {
    files.set(
      `packages/api/generated/crds/${group}_${definition.plural}.yaml`,
      generated + yaml(customResourceDefinition(definition)),
    );
    files.set(`docs/reference/${definition.kind.toLowerCase()}.md`, kindPage(definition));
  }
  files.set(
    'packages/api/generated/policies/controller-cluster-name.yaml',
    generated + clusterNamePolicy.map(yaml).join('---\n'),
  );
  files.set('packages/api/generated/values-schema.json', valuesSchema(kinds));
  files.set('docs/reference/conditions.md', conditionsPage());
  const troubleshooting = 'docs/troubleshooting.md';
  files.set(troubleshooting, withReasons(await readFile(troubleshooting, 'utf8')));
  files.set('docs/reference/README.md', indexPage(kinds));
  return files;
}
