/** The names of a cluster: Services, the pods behind headless ones, and addresses back to names. Pure lookups. */
import type { Endpoint, EndpointSlice, Service } from '../objects/objects.ts';
import { type Answer, type Question, type ResourceRecord, recordType, responseCode } from './message.ts';

export interface ZoneSource {
  readonly service: (namespace: string, name: string) => Service | undefined;
  readonly slices: (namespace: string, service: string) => readonly EndpointSlice[];
  readonly hasNamespace: (namespace: string) => boolean;
  readonly serviceByAddress: (address: string) => Service | undefined;
  readonly endpointsByAddress: (
    address: string,
  ) => readonly { readonly slice: EndpointSlice; readonly endpoint: Endpoint }[];
}

export const clusterDomain = 'cluster.local';
const ttl = 5;
const none: Answer = { code: responseCode.nameError, answers: [] };

export function answerQuestion(question: Question, source: ZoneSource): Answer {
  const name = question.name.toLowerCase().replace(/\.$/, '');
  if (name.endsWith('.in-addr.arpa')) return reverse(question.name, name, source);
  if (name !== clusterDomain && !name.endsWith(`.${clusterDomain}`)) return none;
  const authority: ResourceRecord[] = [{ type: 'SOA', name: clusterDomain, ttl, zone: clusterDomain }];
  const found = lookUp(name.slice(0, -clusterDomain.length - 1), question, source);
  if (found === undefined) return { ...none, authority };
  return found.length === 0
    ? { code: responseCode.ok, answers: [], authority }
    : { code: responseCode.ok, answers: found };
}

/** Undefined: no such name. An empty list: the name exists, but has no record of that type. */
function lookUp(name: string, question: Question, source: ZoneSource): ResourceRecord[] | undefined {
  const labels = name.split('.');
  const kind = labels.pop();
  if (kind === 'pod') return podByAddress(labels, question, source);
  if (kind !== 'svc') return name === '' ? [] : undefined;
  const namespace = labels.pop();
  if (namespace === undefined) return [];
  const serviceName = labels.pop();
  if (serviceName === undefined) return source.hasNamespace(namespace) ? [] : undefined;
  const service = source.service(namespace, serviceName);
  if (service === undefined) return undefined;
  if (service.spec.type === 'ExternalName')
    return labels.length === 0
      ? [{ type: 'CNAME', name: question.name, ttl, target: service.spec.externalName ?? '' }]
      : undefined;
  if (labels.length === 2 && labels.every((label) => label.startsWith('_')))
    return serviceRecords(labels, namespace, service, question, source);
  const addresses = addressesOf(labels, namespace, service, source);
  if (addresses === undefined) return undefined;
  if (question.type !== recordType.A && question.type !== recordType.ANY) return [];
  return addresses.map((address) => ({ type: 'A', name: question.name, ttl, address }));
}

const isHeadless = (service: Service) => service.spec.clusterIP === 'None';

function addressesOf(
  labels: readonly string[],
  namespace: string,
  service: Service,
  source: ZoneSource,
): string[] | undefined {
  const { clusterIP = '' } = service.spec;
  if (!isHeadless(service)) {
    if (labels.length > 0) return undefined;
    return clusterIP === '' ? [] : [clusterIP];
  }
  const endpoints = source.slices(namespace, service.metadata.name).flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter((endpoint) => endpoint.conditions?.ready !== false);
  if (labels.length === 0) {
    const all = [...new Set(ready.flatMap((endpoint) => endpoint.addresses))];
    return all.length === 0 ? undefined : all;
  }
  if (labels.length !== 1) return undefined;
  const found = ready.filter((endpoint) => hostOf(endpoint) === labels[0]);
  return found.length === 0 ? undefined : found.flatMap((endpoint) => endpoint.addresses);
}

/** A pod without a hostname is known by its address with dashes. */
const hostOf = (endpoint: Endpoint): string =>
  endpoint.hostname ?? (endpoint.addresses[0] ?? '').replaceAll('.', '-');

function serviceRecords(
  labels: readonly string[],
  namespace: string,
  service: Service,
  question: Question,
  source: ZoneSource,
): ResourceRecord[] | undefined {
  const [portName = '', protocol = ''] = labels.map((label) => label.slice(1));
  const matches = (port: { name?: string; protocol?: string }) =>
    port.name === portName && (port.protocol ?? 'TCP').toLowerCase() === protocol;
  const base = `${service.metadata.name}.${namespace}.svc.${clusterDomain}`;
  const record = (port: number, target: string): ResourceRecord => ({
    type: 'SRV',
    name: question.name,
    ttl,
    priority: 0,
    weight: 100,
    port,
    target,
  });
  const records = isHeadless(service)
    ? source
        .slices(namespace, service.metadata.name)
        .flatMap((slice) =>
          (slice.ports ?? [])
            .filter((port) => matches(port as { name?: string; protocol?: string }))
            .flatMap((port) =>
              (slice.endpoints ?? [])
                .filter((endpoint) => endpoint.conditions?.ready !== false)
                .map((endpoint) => record(port.port ?? 0, `${hostOf(endpoint)}.${base}`)),
            ),
        )
    : (service.spec.ports ?? []).filter(matches).map((port) => record(port.port, base));
  if (records.length === 0) return undefined;
  return question.type === recordType.SRV || question.type === recordType.ANY ? records : [];
}

/** `10-244-0-5.ns.pod.cluster.local` is that address, for any pod. */
function podByAddress(labels: readonly string[], question: Question, source: ZoneSource) {
  const [dashed = '', namespace = ''] = labels;
  const address = dashed.replaceAll('-', '.');
  if (labels.length !== 2 || !/^\d+\.\d+\.\d+\.\d+$/.test(address) || !source.hasNamespace(namespace))
    return undefined;
  if (question.type !== recordType.A) return [];
  return [{ type: 'A' as const, name: question.name, ttl, address }];
}

function reverse(asked: string, name: string, source: ZoneSource): Answer {
  const address = name.slice(0, -'.in-addr.arpa'.length).split('.').toReversed().join('.');
  const pointer = (target: string): ResourceRecord => ({ type: 'PTR', name: asked, ttl, target });
  const service = source.serviceByAddress(address);
  if (service !== undefined)
    return {
      code: responseCode.ok,
      answers: [pointer(`${service.metadata.name}.${service.metadata.namespace ?? ''}.svc.${clusterDomain}`)],
    };
  const answers = source
    .endpointsByAddress(address)
    .map(({ slice, endpoint }) =>
      pointer(
        `${hostOf(endpoint)}.${slice.metadata.labels?.['kubernetes.io/service-name'] ?? ''}.${slice.metadata.namespace ?? ''}.svc.${clusterDomain}`,
      ),
    );
  return answers.length === 0 ? none : { code: responseCode.ok, answers };
}
