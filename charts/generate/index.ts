/** Writes what the charts take from elsewhere: the custom resources, the policy, and the schemas of the values. */
import { readdir, readFile } from 'node:fs/promises';
import { clusterNamePolicy, customResourceDefinition, group, kinds } from '@slurm-operator/api';
import { parse, stringify } from 'yaml';
import {
  mutatingConfiguration,
  validatingConfiguration,
} from '../../packages/operator/src/webhook/configurations.ts';
import { crdsValues, operatorValues } from './operator-values.ts';
import type { Schema } from './schema.ts';
import { type Kinds, slurmValues } from './slurm-values.ts';

const generated = '# Generated from packages/api by `make generate`. Do not edit.\n';
const yaml = (object: object): string =>
  stringify(object, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });

/** As a template: what looks like an action is text. Without the custom resources every cluster would go, so helm is asked to leave them. */
const asTemplate = (object: object): string => yaml(object).replaceAll('{{', '{{ "{{" }}');
const kept = (object: object): string =>
  asTemplate(object).replace(
    /^metadata:\n/m,
    `metadata:
  {{- if .Values.keep }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
`,
  );

/**
 * Helm removes a value that is null from the defaults, so that a template meets a block that does not exist. This puts the default back.
 * Maps of which Kubernetes knows the fields are left alone below their name: a null takes a default away there.
 */
const defaults = (
  prefix: string,
  values: object,
): string => `{{- /* Generated from values.yaml by \`make generate\`. Do not edit. */ -}}

{{/* A null block, list or boolean means its default. To be included first in every template. Argument: root. */}}
{{- define "${prefix}.fillDefaults" -}}
{{- include "${prefix}.fill" (dict "values" .Values "defaults" (include "${prefix}.defaults" . | fromJson)) -}}
{{- end -}}

{{/* Arguments: values, which is changed, and defaults. */}}
{{- define "${prefix}.fill" -}}
{{- $values := .values -}}
{{- range $key, $default := .defaults -}}
{{- $given := get $values $key -}}
{{- if or (not (hasKey $values $key)) (kindIs "invalid" $given) -}}
{{- if has (kindOf $default) (list "map" "slice" "bool") -}}{{- $_ := set $values $key $default -}}{{- end -}}
{{- else if and (kindIs "map" $given) (kindIs "map" $default) (not (has $key (list ${['podSpec', 'podSecurityContext', 'securityContext', 'resources'].map((key) => `"${key}"`).join(' ')}))) -}}
{{- include "${prefix}.fill" (dict "values" $given "defaults" $default) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "${prefix}.defaults" -}}
${JSON.stringify(values, undefined, 2).replaceAll('{{', '{{ "{{" }}')}
{{- end -}}
`;

const schema = (values: Schema): string =>
  `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...values }, undefined, 2)}\n`;

export async function generate(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const crds = 'charts/slurm-operator-crds';
  for (const definition of kinds)
    files.set(
      `${crds}/templates/${group}_${definition.plural}.yaml`,
      generated + kept(customResourceDefinition(definition)),
    );
  files.set(
    `${crds}/templates/controller-cluster-name.yaml`,
    generated + clusterNamePolicy.map(asTemplate).join('---\n'),
  );
  const { definitions } = JSON.parse(
    await readFile(new URL('../../packages/api/generated/values-schema.json', import.meta.url), 'utf8'),
  ) as { definitions: Kinds };
  files.set('charts/slurm/values.schema.json', schema(slurmValues(definitions)));
  files.set('charts/slurm-operator/values.schema.json', schema(operatorValues()));
  files.set(`${crds}/values.schema.json`, schema(crdsValues()));
  for (const [name, prefix] of [
    ['slurm', 'slurm'],
    ['slurm-operator', 'operator'],
  ] as const) {
    const values = await readFile(new URL(`../${name}/values.yaml`, import.meta.url), 'utf8');
    files.set(`charts/${name}/templates/_defaults.tpl`, defaults(prefix, parse(values) as object));
  }
  await addOperatorParts(files);
  return files;
}

/** Rights and webhooks, as the programs' own tests know them; the templates put names and choices in. */
async function addOperatorParts(files: Map<string, string>): Promise<void> {
  const rights = new URL('../../packages/operator/generated/rbac/', import.meta.url);
  for (const file of (await readdir(rights)).toSorted())
    files.set(`charts/slurm-operator/rules/${file}`, await readFile(new URL(file, rights), 'utf8'));
  // The Service is the release's own.
  const place = { name: 'webhook', service: { name: '', namespace: '' } };
  for (const { kind, webhooks } of [validatingConfiguration(place), mutatingConfiguration(place)])
    files.set(
      `charts/slurm-operator/webhooks/${kind}.yaml`,
      `# Generated from packages/operator by \`make generate\`. Do not edit.\n${yaml({ webhooks })}`,
    );
}
