/** LimitRanges: what containers get when they do not say, and how much or little anything may ask for. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { ILimitRange } from 'kubernetes-models/v1/LimitRange';
import type { ILimitRangeItem } from 'kubernetes-models/v1/LimitRangeItem';
import type { IPersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import type { IPod } from 'kubernetes-models/v1/Pod';
import { forbidden } from '../../api/errors.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { RequestContext } from '../../resource/request-context.ts';
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
    const pod = typed<IPod>(createdObject(attributes, '', 'pods'));
    const claim = typed<IPersistentVolumeClaim>(createdObject(attributes, '', 'persistentvolumeclaims'));
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
        faults.push(...minimumFaults(item, asked, {}), ...maximumOfClaim(item, asked));
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
    .flatMap((object) => typed<ILimitRange>(object).spec?.limits ?? [])
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
  return [
    ...minimumFaults(item, requests, limits),
    ...maximumFaults(item, requests, limits),
    ...ratioFaults(item, requests, limits),
  ];
}

function minimumFaults({ min, type }: ILimitRangeItem, requests: Amounts, limits: Amounts): string[] {
  const faults: string[] = [];
  for (const [name, bound] of Object.entries(min ?? {})) {
    const least = `minimum ${name} usage per ${type} is ${bound}`;
    const below = (amount: string | number | undefined) =>
      amount !== undefined && parse(amount).compare(parse(bound)) < 0;
    if (requests[name] === undefined) faults.push(`${least}.  No request is specified`);
    else if (below(requests[name])) faults.push(`${least}, but request is ${requests[name]}`);
    else if (below(limits[name])) faults.push(`${least}, but limit is ${limits[name]}`);
  }
  return faults;
}

const above = (amount: string | number | undefined, bound: string | number): boolean =>
  amount !== undefined && parse(amount).compare(parse(bound)) > 0;

function maximumFaults({ max, type }: ILimitRangeItem, requests: Amounts, limits: Amounts): string[] {
  const faults: string[] = [];
  for (const [name, bound] of Object.entries(max ?? {})) {
    const most = `maximum ${name} usage per ${type} is ${bound}`;
    if (limits[name] === undefined) faults.push(`${most}.  No limit is specified`);
    else if (above(limits[name], bound)) faults.push(`${most}, but limit is ${limits[name]}`);
    else if (above(requests[name], bound)) faults.push(`${most}, but request is ${requests[name]}`);
  }
  return faults;
}

/** A claim has no limit of its own: what it asks for is held against the maximum. */
function maximumOfClaim({ max, type }: ILimitRangeItem, asked: Amounts): string[] {
  return Object.entries(max ?? {}).flatMap(([name, bound]) => {
    const most = `maximum ${name} usage per ${type} is ${bound}`;
    if (asked[name] === undefined) return [`${most}.  No request is specified`];
    return above(asked[name], bound) ? [`${most}, but request is ${asked[name]}`] : [];
  });
}

function ratioFaults(
  { maxLimitRequestRatio, type }: ILimitRangeItem,
  requests: Amounts,
  limits: Amounts,
): string[] {
  return Object.entries(maxLimitRequestRatio ?? {}).flatMap(([name, bound]) => {
    const most = `${name} max limit to request ratio per ${type} is ${bound}`;
    const number = (amount: string | number | undefined): number =>
      amount === undefined ? 0 : Number(parse(amount).nanos);
    if (number(requests[name]) === 0) return [`${most}, but no request is specified or request is 0`];
    if (number(limits[name]) === 0) return [`${most}, but no limit is specified or limit is 0`];
    const ratio = number(limits[name]) / number(requests[name]);
    return ratio > number(bound) / 1e9 ? [`${most}, but provided ratio is ${ratio.toFixed(6)}`] : [];
  });
}

function total(list: readonly Amounts[]): Amounts {
  const sums = new Map<string, Quantity>();
  for (const amounts of list)
    for (const [name, text] of Object.entries(amounts)) {
      const before = sums.get(name);
      sums.set(name, before ? before.add(parse(text)) : parse(text));
    }
  return Object.fromEntries([...sums].map(([name, sum]) => [name, sum.toString()]));
}

function parse(text: string | number): Quantity {
  return Quantity.parse(text) ?? Quantity.ZERO;
}
