/** What the address of the page says: which cluster, which view, and its filters. Pure, so that links can be tested. */

export const viewNames = [
  'overview',
  'nodes',
  'jobs',
  'submit',
  'partitions',
  'accounts',
  'rollouts',
  'timeline',
  'configuration',
] as const;
export type ViewName = (typeof viewNames)[number];

export type Address =
  | { readonly view: 'clusters' | 'me' }
  | {
      readonly view: ViewName;
      readonly namespace: string;
      readonly cluster: string;
      /** Of a node or a job: its own page. */
      readonly item: string;
      readonly query: URLSearchParams;
    };

export function readAddress(path: string, search: string): Address {
  const [, first = '', namespace = '', cluster = '', view = 'overview', item = ''] = path
    .split('/')
    .map(decoded);
  if (first === 'me') return { view: 'me' };
  const known = viewNames.find((name) => name === view);
  if (first !== 'c' || namespace === '' || cluster === '' || known === undefined) return { view: 'clusters' };
  return { view: known, namespace, cluster, item, query: new URLSearchParams(search) };
}

export function pathOf(
  at: { readonly namespace: string; readonly cluster: string },
  view: ViewName,
  item = '',
  query = new URLSearchParams(),
): string {
  const parts = [
    'c',
    at.namespace,
    at.cluster,
    ...(view === 'overview' && item === '' ? [] : [view]),
    ...(item === '' ? [] : [item]),
  ];
  const search = query.toString();
  return `/${parts.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** The same query with one parameter changed; an empty value removes it. A new filter begins at the first row again. */
export function withParameter(query: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(query);
  if (value === '') next.delete(name);
  else next.set(name, value);
  if (name !== 'offset') next.delete('offset');
  return next;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
