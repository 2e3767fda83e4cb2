/** LimitRanges: what follows from what they say, and that they do not contradict themselves. */

import { Quantity } from '@slurm-operator/kubernetes-values';
import type { ILimitRange } from 'kubernetes-models/v1/LimitRange';
import type { ILimitRangeItem } from 'kubernetes-models/v1/LimitRangeItem';
import type { FieldFault } from '../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, required } from '../../api/fault.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import type { BuiltinHooks } from './define.ts';

const limitsOf = (object: KubeObject) => typed<ILimitRange>(object).spec?.limits ?? [];

export const limitRangeHooks: BuiltinHooks = {
  default(object) {
    for (const item of limitsOf(object)) {
      if (item.type !== 'Container') continue;
      // What is not said follows from what is: the maximum is the default limit, the default limit the request.
      if (item.max) item.default = { ...item.max, ...item.default };
      if (item.default || item.min)
        item.defaultRequest = { ...item.min, ...item.default, ...item.defaultRequest };
    }
  },
  validate(object) {
    const types = limitsOf(object).map(({ type }) => type);
    return limitsOf(object).flatMap((item, index) => {
      const at = `spec.limits[${index}]`;
      const faults = types.indexOf(item.type) < index ? [duplicate(`${at}.type`, item.type)] : [];
      return [...faults, ...typeFaults(item, at), ...contradictions(item, at)];
    });
  },
};

function typeFaults(
  { type, min, max, default: limit, defaultRequest }: ILimitRangeItem,
  at: string,
): FieldFault[] {
  const faults: FieldFault[] = [];
  const forPods = "may not be specified when `type` is 'Pod'";
  if (type === 'Pod' && Object.keys(limit ?? {}).length > 0)
    faults.push(forbiddenField(`${at}.default`, forPods));
  if (type === 'Pod' && Object.keys(defaultRequest ?? {}).length > 0)
    faults.push(forbiddenField(`${at}.defaultRequest`, forPods));
  if (type === 'PersistentVolumeClaim' && !min?.['storage'] && !max?.['storage'])
    faults.push(
      required(
        `${at}.limits`,
        'either minimum or maximum storage value is required, but neither was provided',
      ),
    );
  return faults;
}

type Amounts = Readonly<Record<string, string | number>> | undefined;
type Bound = { readonly text: string; readonly amount: Quantity } | undefined;

function boundOf(amounts: Amounts, name: string): Bound {
  const text = amounts?.[name];
  const amount = text === undefined ? undefined : Quantity.parse(text);
  return amount && { text: String(text), amount };
}

const exceeds = (a: Bound, b: Bound): boolean =>
  a !== undefined && b !== undefined && a.amount.compare(b.amount) > 0;

function contradictions(item: ILimitRangeItem, at: string): FieldFault[] {
  const isPod = item.type === 'Pod';
  const parts: Record<'min' | 'max' | 'limit' | 'request' | 'ratio', Amounts> = {
    min: item.min,
    max: item.max,
    limit: isPod ? undefined : item.default,
    request: isPod ? undefined : item.defaultRequest,
    ratio: item.maxLimitRequestRatio,
  };
  const names = new Set(Object.values(parts).flatMap((amounts) => Object.keys(amounts ?? {})));
  return [...names].toSorted().flatMap((name) => {
    const [min, max, limit, request, ratio] = Object.values(parts).map((amounts) => boundOf(amounts, name));
    const faults: FieldFault[] = [];
    const refuse = (
      field: string,
      shown: Bound,
      low: string,
      above: Bound,
      high: string,
      below: Bound,
    ): void => {
      if (exceeds(above, below))
        faults.push(
          invalidValue(
            `${at}.${field}[${name}]`,
            shown?.text,
            `${low} value ${above?.text} is greater than ${high} value ${below?.text}`,
          ),
        );
    };
    refuse('min', min, 'min', min, 'max', max);
    refuse('defaultRequest', request, 'min', min, 'default request', request);
    refuse('defaultRequest', request, 'default request', request, 'max', max);
    refuse('defaultRequest', request, 'default request', request, 'default limit', limit);
    refuse('default', min, 'min', min, 'default', limit);
    refuse('default', max, 'default', limit, 'max', max);
    return [...faults, ...ratioFaults(`${at}.maxLimitRequestRatio[${name}]`, ratio, min, max)];
  });
}

function ratioFaults(field: string, ratio: Bound, min: Bound, max: Bound): FieldFault[] {
  if (ratio === undefined) return [];
  const number = ({ amount }: NonNullable<Bound>): number => Number(amount.nanos) / 1e9;
  const faults: FieldFault[] = [];
  if (number(ratio) < 1) faults.push(invalidValue(field, ratio.text, `ratio ${ratio.text} is less than 1`));
  if (min && max && number(ratio) > number(max) / number(min))
    faults.push(
      invalidValue(
        field,
        ratio.text,
        `ratio ${ratio.text} is greater than max/min = ${(number(max) / number(min)).toFixed(6)}`,
      ),
    );
  return faults;
}
