/** ResourceQuotas: nothing is made that a namespace cannot afford. Usage is counted from the store, so it never drifts. */
import { formatQuantity } from '../../builtins/quantity.ts';
import { forbidden } from '../../errors.ts';
import { clone, equal } from '../../json.ts';
import type { RequestContext } from '../../ports/request-context.ts';
import type { KubeObject } from '../../types.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { addUsage, checkQuota, type Usage, usageOf } from '../quota-usage.ts';

const QUOTAS = '/resourcequotas';

interface Quota {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
}

export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',
  validate(attributes, context) {
    const { operation, subresource, definition, namespace, object, name, dryRun } = attributes;
    if (operation !== 'CREATE' || subresource !== '' || object === undefined || namespace === '') return;
    const quotas = context.parts.store.list(QUOTAS, namespace);
    if (quotas.length === 0) return;
    const asked = usageOf(definition.group, definition.plural, object);
    const isPod = definition.group === '' && definition.plural === 'pods';
    const refuse = (why: string) =>
      forbidden({ group: definition.group, resource: definition.plural }, name, why);
    for (const stored of quotas) {
      const { spec } = stored as unknown as Quota;
      const hard = spec?.hard ?? {};
      const used = usedBy(context, namespace, hard);
      const { exceeded, requested, used: usedText, limited, unsaid } = checkQuota(hard, used, asked, isPod);
      const quotaName = stored.metadata.name ?? '';
      if (unsaid.length > 0)
        throw refuse(`failed quota: ${quotaName}: must specify ${unsaid.join(',')}${forContainers(object)}`);
      if (exceeded.length > 0)
        throw refuse(
          `exceeded quota: ${quotaName}, requested: ${requested}, used: ${usedText}, limited: ${limited}`,
        );
      if (!dryRun) writeStatus(context, stored, hard, addUsage(used, asked));
    }
  },
};

function forContainers(pod: KubeObject): string {
  const { spec } = pod as unknown as { spec?: { containers?: readonly { name: string }[] } };
  const names = (spec?.containers ?? []).map(({ name }) => name);
  return names.length === 0 ? '' : ` for: ${names.join(',')}`;
}

/** Only resources that the quota can be about are counted. */
function usedBy({ parts }: RequestContext, namespace: string, hard: Readonly<Record<string, string>>): Usage {
  const names = Object.keys(hard);
  let used: Usage = new Map();
  for (const { group, plural, storage, namespaced } of parts.registry.all()) {
    const counted = names.includes(group === '' ? `count/${plural}` : `count/${plural}.${group}`);
    const core =
      group === '' &&
      ['pods', 'services', 'persistentvolumeclaims', 'secrets', 'configmaps', 'resourcequotas'].includes(
        plural,
      );
    if (!namespaced || !(counted || core)) continue;
    for (const object of parts.store.list(storage, namespace))
      used = addUsage(used, usageOf(group, plural, object));
  }
  return used;
}

function writeStatus(
  { parts }: RequestContext,
  stored: KubeObject,
  hard: Readonly<Record<string, string>>,
  usage: Usage,
): void {
  const used = Object.fromEntries(
    Object.keys(hard).map((name) => {
      const amount = usage.get(name);
      return [name, amount ? formatQuantity(amount) : '0'];
    }),
  );
  const status = { hard, used };
  if (equal(stored['status'], status)) return;
  parts.store.replace(QUOTAS, { ...clone(stored), status }, stored.metadata.resourceVersion ?? '');
}
