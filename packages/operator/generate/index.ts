/** Writes what the programs may do as data, for charts and for people who review it, and the plain YAML of an installation. */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import {
  bindingClusterRules,
  bindingNamespaceRules,
  certificateClusterRules,
  certificateNamespaceRules,
  leaseRules,
  managerClusterRules,
  managerNamespaceRules,
  type PolicyRule,
  peopleRules,
  reviewRules,
  webhookNamespaceRules,
} from '../src/rbac/rules.ts';
import { installFile } from './install.ts';

const names = {
  secret: 'slurm-operator-webhook-certs',
  validating: 'slurm-operator-webhook',
  mutating: 'slurm-operator-webhook',
};

const rulesFiles: Readonly<
  Record<string, { readonly about: string; readonly rules: readonly PolicyRule[] }>
> = {
  'manager-namespace': {
    about: 'manager, in every namespace with Slurm clusters',
    rules: managerNamespaceRules,
  },
  'manager-cluster': { about: 'manager, of the whole cluster', rules: managerClusterRules },
  lease: { about: 'both programs, in their own namespace, with --leader-elect', rules: leaseRules },
  reviews: { about: 'both programs, of the whole cluster, with --metrics-secure', rules: reviewRules },
  'webhook-namespace': { about: 'webhook, in every namespace it reviews', rules: webhookNamespaceRules },
  'binding-namespace': {
    about: 'webhook with pods/binding, in every namespace with workers',
    rules: bindingNamespaceRules,
  },
  'binding-cluster': { about: 'webhook with pods/binding, of the whole cluster', rules: bindingClusterRules },
  'certificates-namespace': {
    about: 'webhook that makes its own certificate, in its own namespace',
    rules: certificateNamespaceRules(names),
  },
  'certificates-cluster': {
    about: 'webhook that makes its own certificate, of the whole cluster',
    rules: certificateClusterRules(names),
  },
  viewer: { about: 'people who look', rules: peopleRules.viewer },
  user: { about: 'people who scale and roll', rules: peopleRules.user },
  admin: { about: 'people who make and remove clusters', rules: peopleRules.admin },
};

export function generate(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const [name, { about, rules }] of Object.entries(rulesFiles))
    files.set(
      `packages/operator/generated/rbac/${name}.yaml`,
      `# Rules of: ${about}.\n# Generated from packages/operator/src/rbac/rules.ts by \`make generate\`; do not edit.\n${stringify(rules, { aliasDuplicateObjects: false })}`,
    );
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  files.set('deploy/slurm-operator.yaml', installFile(`slurm-operator/operator:${version}`));
  return Promise.resolve(files);
}
