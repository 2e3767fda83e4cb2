/** ResourceQuotas: nothing is made that a namespace cannot afford. Usage is counted from the store, so it never drifts. */

import { forbidden } from '../../api/errors.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { checkQuota, usageOf, usedIn } from '../quota-usage.ts';

const QUOTAS = '/resourcequotas';

interface Quota {
  readonly spec?: { readonly hard?: Readonly<Record<string, string>> };
}

export const resourceQuota: AdmissionPlugin = {
  name: 'ResourceQuota',
  validate(attributes, context) {
    const { operation, subresource, definition, namespace, object, name } = attributes;
    if (operation !== 'CREATE' || subresource !== '' || object === undefined || namespace === '') return;
    const quotas = context.parts.store.list(QUOTAS, namespace);
    if (quotas.length === 0) return;
    const asked = usageOf(definition.group, definition.plural, object);
    const isPod = definition.group === '' && definition.plural === 'pods';
    const refuse = (why: string) =>
      forbidden({ group: definition.group, resource: definition.plural }, name, why);
    for (const stored of quotas) {
      const { spec } = typed<Quota>(stored);
      const hard = spec?.hard ?? {};
      const used = usedIn(context.parts, namespace, Object.keys(hard));
      const { exceeded, requested, used: usedText, limited, mustSay } = checkQuota(hard, used, asked, isPod);
      const quotaName = stored.metadata.name ?? '';
      const unsaid = mustSay.flatMap((resource) => missingIn(object, resource));
      if (unsaid.length > 0) throw refuse(`failed quota: ${quotaName}: must specify ${unsaid.join('; ')}`);
      if (exceeded.length > 0)
        throw refuse(
          `exceeded quota: ${quotaName}, requested: ${requested}, used: ${usedText}, limited: ${limited}`,
        );
    }
  },
};

interface PodObject {
  readonly spec?: Partial<Record<'containers' | 'initContainers', readonly ContainerObject[]>>;
}

interface ContainerObject {
  readonly name: string;
  readonly resources?: Partial<Record<'requests' | 'limits', Readonly<Record<string, unknown>>>>;
}

/** Which containers do not say how much they want of what is counted, as one text; none when all do. */
function missingIn(pod: KubeObject, resource: string): string[] {
  const { spec } = typed<PodObject>(pod);
  const [, part = 'requests', name = resource] = /^(requests|limits)\.(.+)$/.exec(resource) ?? [];
  const silent = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
    .filter(({ resources }) => resources?.[part as 'requests' | 'limits']?.[name] === undefined)
    .map((container) => container.name);
  return silent.length === 0 ? [] : [`${resource} for: ${silent.toSorted().join(',')}`];
}
