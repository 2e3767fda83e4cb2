/** Where a webhook listens: a URL, or a Service that is followed to one of its endpoints. */
import { typed } from '../../api/typed.ts';
import type { Store } from '../../store/store.ts';

export interface ClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  readonly caBundle?: string;
}

export interface Endpoint {
  /** As messages name it, without the timeout. */
  readonly url: URL;
  /** Where to connect to, when it is not where the URL says. */
  readonly address?: string;
  readonly port?: number;
  readonly serverName: string;
}

/** `url` is what would have been called. */
export type Resolution = { readonly endpoint: Endpoint } | { readonly fault: string; readonly url?: URL };

interface Slice {
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean };
  }[];
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
}

interface ServiceObject {
  readonly spec?: {
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: number | string;
    }[];
  };
}

export function resolveEndpoint(
  store: Store,
  { url, service }: ClientConfig,
  random: () => number = Math.random,
): Resolution {
  if (url !== undefined) {
    const parsed = new URL(url);
    return { endpoint: { url: parsed, serverName: parsed.hostname.replace(/^\[|\]$/g, '') } };
  }
  if (service === undefined) return { fault: 'neither url nor service is set' };
  const { namespace, name, path = '', port = 443 } = service;
  const serverName = `${name}.${namespace}.svc`;
  const shown = new URL(
    `https://${serverName}:${port}${path.startsWith('/') || path === '' ? path : `/${path}`}`,
  );
  const found = store.get('/services', namespace, name) as ServiceObject | undefined;
  if (found === undefined) return { fault: `service "${name}" not found`, url: shown };
  const servicePort = found.spec?.ports?.find((candidate) => candidate.port === port);
  if (servicePort === undefined)
    return { fault: `no service port ${port} found for service "${name}"`, url: shown };
  const candidates: { readonly address: string; readonly port: number }[] = [];
  for (const object of store.list('discovery.k8s.io/endpointslices', namespace)) {
    if (object.metadata.labels?.['kubernetes.io/service-name'] !== name) continue;
    const slice = typed<Slice>(object);
    const target = slice.ports?.find(
      (candidate) => (candidate.name ?? '') === (servicePort.name ?? ''),
    )?.port;
    if (target === undefined) continue;
    for (const { addresses, conditions } of slice.endpoints ?? [])
      if (conditions?.ready !== false && addresses[0] !== undefined)
        candidates.push({ address: addresses[0], port: target });
  }
  // As a Service does it: by chance, and without knowing which of them still answers.
  const chosen = candidates[Math.floor(random() * candidates.length)];
  if (chosen === undefined) return { fault: `no endpoints available for service "${name}"`, url: shown };
  return { endpoint: { url: shown, ...chosen, serverName } };
}
