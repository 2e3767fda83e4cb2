/** The lists of groups and resources, health and version. */
import type { Answer } from '../http/answer.ts';
import type { Routes } from '../ports/routes.ts';
import type { ServerParts } from '../ports/server-parts.ts';
import { groupVersion, type ResourceDefinition } from '../registry/resource-definition.ts';
import type { KubeObject } from '../types.ts';

export function createDiscovery(parts: ServerParts): Routes {
  const groups = (): Map<string, Set<string>> => {
    const found = new Map<string, Set<string>>();
    for (const { group, version } of parts.registry.all()) {
      const versions = found.get(group) ?? new Set();
      found.set(group, versions.add(version));
    }
    return found;
  };
  const apiGroup = (name: string, versions: Iterable<string>) => {
    const list = [...versions].map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: list, preferredVersion: list[0] };
  };
  return {
    answer({ path, info }) {
      if (['/healthz', '/livez', '/readyz'].includes(path))
        return { type: 'text', status: 200, contentType: 'text/plain; charset=utf-8', text: 'ok' };
      if (path === '/version')
        return json({ major: '1', minor: '36', gitVersion: 'v1.36.4', platform: 'linux/amd64' });
      if (path === '/api')
        return json({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });
      if (path === '/apis') {
        const list = [...groups()]
          .filter(([name]) => name !== '')
          .map(([name, versions]) => apiGroup(name, versions));
        return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: list });
      }
      if (info.isResource || info.version === '' || !parts.registry.hasGroupVersion(info.group, info.version))
        return undefined;
      const here = parts.registry
        .all()
        .filter((definition) => definition.group === info.group && definition.version === info.version);
      return json({
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: groupVersion(info),
        resources: here.flatMap(resources),
      });
    },
  };
}

function resources(definition: ResourceDefinition): object[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = definition;
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  };
  const subs = Object.entries(definition.subresources).map(([name, sub]) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    kind: sub.type === 'part' ? kind : sub.kind.kind,
    ...(sub.type === 'part' ? {} : { group: sub.kind.group, version: sub.kind.version }),
    verbs: sub.verbs,
  }));
  return [main, ...subs];
}

function json(value: object): Answer {
  return { type: 'object', status: 200, object: value as KubeObject };
}
