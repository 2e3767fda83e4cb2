/** What the API server serves right now, custom kinds included. */
import { type AnyResource, type Client, defineResource } from '@slurm-operator/kube';

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

/** Every kind that can be listed, watched and deleted; of a group the preferred version only. */
export async function servedResources(client: Client, signal: AbortSignal): Promise<AnyResource[]> {
  const groups = await client.json<{ groups: { preferredVersion: { groupVersion: string } }[] }>(
    'GET',
    '/apis',
    { signal },
  );
  const paths = ['/api/v1', ...groups.groups.map((group) => `/apis/${group.preferredVersion.groupVersion}`)];
  const lists = await Promise.all(
    paths.map((path) => client.json<ResourceList>('GET', path, { signal }).catch(() => undefined)),
  );
  return lists.flatMap((list) =>
    (list?.resources ?? [])
      .filter(
        (entry) =>
          !entry.name.includes('/') &&
          ['list', 'watch', 'delete'].every((verb) => entry.verbs.includes(verb)),
      )
      .map((entry) =>
        defineResource({
          apiVersion: list?.groupVersion ?? 'v1',
          kind: entry.kind,
          plural: entry.name,
          namespaced: entry.namespaced,
        }),
      ),
  );
}
