/** The flags of both programs and who may do what, as pages of the reference. */
import { dashboardFlagTable } from '../src/programs/dashboard-flags.ts';
import { managerFlagTable } from '../src/programs/manager-flags.ts';
import type { Flags } from '../src/programs/parse-flags.ts';
import { webhookFlagTable } from '../src/programs/webhook-flags.ts';
import type { PolicyRule } from '../src/rbac/rules.ts';

const table = (flags: Flags): string =>
  [
    '| Flag | Default | What it does |',
    '|---|---|---|',
    ...Object.entries(flags).map(
      ([name, { default: standard, about }]) =>
        `| \`--${name}\` | ${standard === '' ? '' : `\`${standard}\``} | ${about.replaceAll('|', '\\|')} |`,
    ),
  ].join('\n');

export function flagsPage(): string {
  return `<!-- Generated from packages/operator by \`make generate\`. Do not edit. -->

# Flags

All programs are in one image: \`/manager\` runs the controllers, \`/webhook\` serves admission reviews, \`/dashboard\` serves
the [dashboard](../dashboard.md). Flags have the syntax of Go programs (\`--name value\`, \`--name=value\`, one dash or two). The environment variable \`LOG_LEVEL\` takes
precedence over every log flag; \`POD_NAMESPACE\` is the namespace of the program.

## manager

${table(managerFlagTable)}

## webhook

${table(webhookFlagTable)}

## dashboard

${table(dashboardFlagTable)}
`;
}

export function permissionsPage(
  sets: readonly { readonly about: string; readonly rules: readonly PolicyRule[] }[],
): string {
  const parts = sets.map(({ about, rules }) =>
    [
      `## ${about.charAt(0).toUpperCase()}${about.slice(1)}`,
      '',
      '| API group | Resources | Verbs | Names |',
      '|---|---|---|---|',
      ...rules.map(
        ({ apiGroups, resources, verbs, resourceNames }) =>
          `| ${apiGroups.map((group) => group || 'core').join(', ')} | ${resources.join(', ')} | ${verbs.join(', ')} | ${resourceNames?.join(', ') ?? ''} |`,
      ),
    ].join('\n'),
  );
  return `<!-- Generated from packages/operator by \`make generate\`. Do not edit. -->

# Permissions

All permissions of the programs and of the roles for users. A test runs the controllers with exactly these
rules and fails on a refused request; another fails on a permission that the audit log never shows in use.

${parts.join('\n\n')}
`;
}
