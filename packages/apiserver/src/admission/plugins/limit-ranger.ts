/** LimitRanges: what containers get when they do not say, and how much or little anything may ask for. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { ILimitRange } from 'kubernetes-models/v1/LimitRange';
import type { ILimitRangeItem } from 'kubernetes-models/v1/LimitRangeItem';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { IPod } from 'kubernetes-models/v1/Pod';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '../../builtins/quantity.ts';
import { forbidden } from '../../errors.ts';
import type { RequestContext } from '../../ports/request-context.ts';
import type { KubeObject } from '../../types.ts';
import { type AdmissionPlugin, createdObject } from '../plugin.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

type Amounts = Readonly<Record<string, string | number>>;

export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  mutate(attributes, context) {
    const pod = createdObject(attributes, '', 'pods') as (KubeObject & IPod) | undefined;
    if (!pod?.spec) return;
    const notes: string[] = [];
    for (const item of itemsOf(context, attributes.namespace, 'Container'))
      for (const container of pod.spec.containers ?? []) notes.push(...fillContainer(container, item));
    if (notes.length > 0)
      pod.metadata.annotations = {
        ...pod.metadata.annotations,
        [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
      };
  },
  validate(attributes, context) {
    const { namespace, name } = attributes;
    const pod = createdObject(attributes, '', 'pods') as unknown as IPod | undefined;
    const claim = createdObject(attributes, '', 'persistentvolumeclaims') as unknown as
      | IPersistentVolumeClaim
      | undefined;
    const faults: string[] = [];
    const containers = pod?.spec?.containers ?? [];
    for (const item of itemsOf(context, namespace, 'Container'))
      for (const { resources } of containers)
        faults.push(...limitFaults(item, resources?.requests ?? {}, resources?.limits ?? {}));
    if (pod)
      for (const item of itemsOf(context, namespace, 'Pod'))
        faults.push(
          ...limitFaults(
            item,
            total(containers.map(({ resources }) => resources?.requests ?? {})),
            total(containers.map(({ resources }) => resources?.limits ?? {})),
          ),
        );
    if (claim) {
      const asked = claim.spec?.resources?.requests ?? {};
      for (const item of itemsOf(context, namespace, 'PersistentVolumeClaim'))
        faults.push(...limitFaults(item, asked, asked));
    }
    if (faults.length === 0) return;
    const plural = pod ? 'pods' : 'persistentvolumeclaims';
    throw forbidden(
      { group: '', resource: plural },
      name,
      faults.length === 1 ? (faults[0] ?? '') : `[${faults.join(', ')}]`,
    );
  },
};

function itemsOf({ parts }: RequestContext, namespace: string, type: string): ILimitRangeItem[] {
  return parts.store
    .list('/limitranges', namespace)
    .flatMap((object) => (object as unknown as ILimitRange).spec?.limits ?? [])
    .filter((item) => item.type === type);
}

/** Fills in what the container left out; answers what was filled in, for the annotation. */
function fillContainer(container: IContainer, item: ILimitRangeItem): string[] {
  const resources = (container.resources ??= {});
  const notes: string[] = [];
  for (const [part, defaults, word] of [
    ['limits', item.default, 'limit'],
    ['requests', item.defaultRequest, 'request'],
  ] as const) {
    const missing = Object.entries(defaults ?? {}).filter(([name]) => resources[part]?.[name] === undefined);
    if (missing.length === 0) continue;
    resources[part] = { ...resources[part], ...Object.fromEntries(missing) };
    const names = missing.map(([name]) => name).toSorted();
    notes.push(`${names.join(', ')} ${word} for container ${container.name}`);
  }
  return notes.toReversed();
}

function limitFaults(item: ILimitRangeItem, requests: Amounts, limits: Amounts): string[] {
  const faults: string[] = [];
  for (const [name, bound] of Object.entries(item.min ?? {})) {
    const least = parse(bound);
    const asked = requests[name];
    if (asked === undefined)
      faults.push(`minimum ${name} usage per ${item.type} is ${bound}.  No request is specified`);
    else if (compareQuantities(parse(asked), least) < 0)
      faults.push(`minimum ${name} usage per ${item.type} is ${bound}, but request is ${asked}`);
  }
  for (const [name, bound] of Object.entries(item.max ?? {})) {
    const most = parse(bound);
    const limit = limits[name];
    if (limit === undefined)
      faults.push(`maximum ${name} usage per ${item.type} is ${bound}.  No limit is specified`);
    else if (compareQuantities(parse(limit), most) > 0)
      faults.push(`maximum ${name} usage per ${item.type} is ${bound}, but limit is ${limit}`);
  }
  return faults;
}

function total(list: readonly Amounts[]): Amounts {
  const sums = new Map<string, Quantity>();
  for (const amounts of list)
    for (const [name, text] of Object.entries(amounts)) {
      const before = sums.get(name);
      sums.set(name, before ? addQuantities(before, parse(text)) : parse(text));
    }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, formatQuantity(sum)]));
}

function parse(text: string | number): Quantity {
  return parseQuantity(text) ?? { nanos: 0n, format: 'DecimalSI' };
}
