/** What form of the answer a client asks for. */
import { ApiError, notImplemented } from '../api/errors.ts';
import type { RequestContext } from '../resource/request-context.ts';

export interface Representation {
  readonly format: 'json' | 'yaml';
  readonly as: 'object' | 'table' | 'metadata';
  readonly pretty: boolean;
}

const available = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

const protobuf = /^application\/vnd\.kubernetes\.protobuf\b/;

/** The first representation in the Accept header that can be given; throws a 406 (or a 501) when there is none. */
export function negotiate({ headers, query }: Pick<RequestContext, 'headers' | 'query'>): Representation {
  const pretty = query.get('pretty') === 'true';
  const wanted = byQuality((headers.accept ?? '').split(',').map((one) => one.trim()));
  let format: Representation['format'] | undefined;
  for (const one of wanted) {
    const [type = '', ...parameters] = one.split(';').map((part) => part.trim());
    const found = formatOf(type);
    if (found === undefined) continue;
    format = found;
    const as = transformation(new Map(parameters.map((part) => part.split('=', 2) as [string, string])));
    if (as !== undefined) return { format: found, as, pretty };
  }
  if (format === undefined && wanted.some((one) => protobuf.test(one)))
    throw notImplemented('answers in protobuf; accept application/json too');
  if (format === undefined)
    throw new ApiError(
      406,
      'NotAcceptable',
      `406: Not Acceptable\n\nAvailable representations: ${available}`,
      {
        details: {},
      },
    );
  throw new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${available}`);
}

/** By descending quality; equal ones stay in order, named types before wildcards. */
function byQuality(wanted: readonly string[]): string[] {
  const quality = (one: string) => Number(/;\s*q=([\d.]+)/.exec(one)?.[1] ?? '1');
  const wildness = (one: string) => (one.startsWith('*') ? 2 : /^[^;]*\/\*/.test(one) ? 1 : 0);
  return wanted.toSorted((a, b) => quality(b) - quality(a) || wildness(a) - wildness(b));
}

function formatOf(type: string): Representation['format'] | undefined {
  switch (type) {
    case '':
    case '*/*':
    case 'application/json':
      return 'json';
    case 'application/yaml':
      return 'yaml';
    default:
      return undefined;
  }
}

function transformation(parameters: ReadonlyMap<string, string>): Representation['as'] | undefined {
  const as = parameters.get('as');
  if (as === undefined) return 'object';
  const served =
    parameters.get('g') === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(parameters.get('v') ?? '');
  if (!served) return undefined;
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
}
