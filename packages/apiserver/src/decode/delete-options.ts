/** DeleteOptions: from the body of a delete, or from its query. */

import { badRequest, type FieldFault, invalid } from '../api/errors.ts';
import { invalidValue, notSupported } from '../api/fault.ts';
import { isObject } from '../api/json.ts';
import { isTrue, wholeNumber } from '../api/request-info.ts';
import { asJson } from '../api/typed.ts';
import type { JsonObject } from '../api/types.ts';
import type { RequestContext } from '../resource/request-context.ts';
import { decodeBody, MalformedBody } from './decode.ts';
import { dryRunFaults } from './write-options.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly dryRun: boolean;
  /** As admission reviews show them. */
  readonly review: JsonObject;
  /** Admission has been asked already, about the request that causes this delete. */
  readonly admitted?: boolean;
}

type Sent = Omit<DeleteOptions, 'dryRun' | 'review' | 'admitted'> & { readonly dryRun?: readonly string[] };

export async function deleteOptions(context: RequestContext): Promise<DeleteOptions> {
  const bytes = await context.body();
  const sent = bytes.length === 0 ? fromQuery(context.query) : await fromBody(context);
  return checkedDeleteOptions(sent);
}

/** Options that came inside another object, such as an Eviction, are held to the same rules. */
export function checkedDeleteOptions(sent: Sent): DeleteOptions {
  const { dryRun = [], ...rest } = sent;
  const faults = [...policyFaults(sent), ...dryRunFaults(dryRun)];
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', faults);
  return {
    ...rest,
    dryRun: dryRun.length > 0,
    review: { ...asJson(sent), kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  };
}

function policyFaults({ propagationPolicy, orphanDependents }: Sent): FieldFault[] {
  if (propagationPolicy === undefined) return [];
  if (orphanDependents !== undefined)
    return [
      invalidValue(
        'propagationPolicy',
        propagationPolicy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    ];
  return ['Foreground', 'Background', 'Orphan'].includes(propagationPolicy)
    ? []
    : [notSupported('propagationPolicy', propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil'])];
}

function fromQuery(query: URLSearchParams): Sent {
  const policy = query.get('propagationPolicy');
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  const dryRun = query.getAll('dryRun').filter((value) => value !== '');
  return {
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(grace === null ? {} : { gracePeriodSeconds: wholeNumber(query, 'gracePeriodSeconds') }),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}

const fields = ['gracePeriodSeconds', 'preconditions', 'propagationPolicy', 'orphanDependents', 'dryRun'];

/** Unknown fields are dropped. */
function known(options: Record<string, unknown>): Sent {
  return Object.fromEntries(Object.entries(options).filter(([key]) => fields.includes(key)));
}

async function fromBody(context: RequestContext): Promise<Sent> {
  try {
    const { value } = await decodeBody(context);
    if (!isObject(value)) throw new MalformedBody('the options are not an object');
    const { kind, apiVersion, ...options } = value;
    if (typeof kind === 'string' && kind !== '' && kind !== 'DeleteOptions')
      throw badRequest(
        `no kind "${kind}" is registered for version "${typeof apiVersion === 'string' ? apiVersion : ''}" in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"`,
      );
    return known(options);
  } catch (error) {
    if (error instanceof MalformedBody)
      throw badRequest(
        `the object provided is unrecognized (must be of type DeleteOptions): ${error.message}`,
      );
    throw error;
  }
}
