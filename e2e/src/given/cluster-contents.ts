/** Every object of a cluster by name, to show that a run left nothing behind. */
import { ApiError, type Client } from '@slurm-operator/kube';

export interface Content {
  /** Its path in the API, which names it and can be deleted. */
  readonly path: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of a PersistentVolume: the namespace of its claim. */
  readonly claimNamespace?: string;
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

/** Kinds that come and go without anybody's doing, and copies of others. */
const passing = new Set(['Event', 'ComponentStatus', 'PodMetrics', 'NodeMetrics', 'Lease']);

export async function clusterContents(client: Client): Promise<Map<string, Content>> {
  const { groups } = (await client.json('GET', '/apis')) as {
    groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
  };
  const roots = [
    '/api/v1',
    ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const contents = new Map<string, Content>();
  for (const root of roots) {
    // Others may have removed the group since it was listed.
    const { resources = [] } = (await client.json('GET', root).catch(notServed)) as ResourceList;
    for (const { name, kind, namespaced, verbs } of resources) {
      if (name.includes('/') || passing.has(kind) || !verbs.includes('list')) continue;
      for (const { metadata, spec } of await listItems(client, `${root}/${name}`)) {
        const { namespace = '', labels = {}, annotations = {} } = metadata;
        const place = namespaced ? `namespaces/${namespace}/` : '';
        const path = `${root}/${place}${name}/${metadata.name}`;
        const claimNamespace = spec?.claimRef?.namespace ?? '';
        contents.set(path, {
          path,
          kind,
          namespace,
          name: metadata.name,
          labels,
          annotations,
          claimNamespace,
        });
      }
    }
  }
  return contents;
}

interface Item {
  readonly metadata: Pick<Content, 'name' | 'labels' | 'annotations'> & { readonly namespace?: string };
  readonly spec?: { readonly claimRef?: { readonly namespace?: string } };
}

interface Page {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly Item[];
}

async function listItems(client: Client, path: string): Promise<Item[]> {
  const found: Item[] = [];
  for (let token = ''; ; ) {
    const query = `limit=500${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`;
    const page = (await client.json('GET', `${path}?${query}`).catch(notServed)) as Page;
    found.push(...(page.items ?? []));
    token = page.metadata?.continue ?? '';
    if (token === '') return found;
  }
}

/** Discovery names kinds that a server then does not serve: an aggregated API that is away, or the embedded one. */
function notServed(error: unknown): Page & ResourceList {
  if (error instanceof ApiError && [404, 405, 501, 503].includes(error.status)) return {};
  throw error;
}

/** What is there now and was not before. */
export const added = (
  before: ReadonlyMap<string, Content>,
  now: ReadonlyMap<string, Content>,
): readonly Content[] => [...now].filter(([path]) => !before.has(path)).map(([, content]) => content);
