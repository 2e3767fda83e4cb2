/** One RBAC rule: what it permits, what it covers, and how the API writes it in a refusal. */

export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** What a request asks for. A resource request names a resource, any other a path. */
export type RequestAttributes =
  | {
      readonly kind: 'resource';
      readonly verb: string;
      readonly apiGroup: string;
      readonly resource: string;
      readonly subresource?: string;
      readonly namespace?: string;
      readonly name?: string;
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string };

/** Does this one rule permit the request? Where the request happens (namespace) is the binding's matter. */
export function ruleAllows(rule: PolicyRule, request: RequestAttributes): boolean {
  if (!includesOrStar(rule.verbs, request.verb)) return false;
  if (request.kind === 'path')
    return (rule.nonResourceURLs ?? []).some((url) => urlMatches(url, request.path));
  return (
    includesOrStar(rule.apiGroups, request.apiGroup) &&
    (rule.resources ?? []).some((resource) => resourceMatches(resource, request)) &&
    nameMatches(rule.resourceNames, request.name)
  );
}

function includesOrStar(list: readonly string[] | undefined, wanted: string): boolean {
  return list !== undefined && (list.includes('*') || list.includes(wanted));
}

function resourceMatches(
  pattern: string,
  request: { readonly resource: string; readonly subresource?: string },
): boolean {
  if (pattern === '*') return true;
  const { resource, subresource } = request;
  const asked = subresource ? `${resource}/${subresource}` : resource;
  return pattern === asked || (subresource !== undefined && pattern === `*/${subresource}`);
}

// A request without a name (create, list) is never permitted by a rule that names objects.
function nameMatches(names: readonly string[] | undefined, name: string | undefined): boolean {
  return names === undefined || names.length === 0 || (name !== undefined && names.includes(name));
}

function urlMatches(pattern: string, path: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

/** Splits a rule into rules of one verb, one group and one resource (or one path) each. */
export function breakdown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = [];
  for (const apiGroup of rule.apiGroups ?? [])
    for (const resource of rule.resources ?? [])
      for (const verb of rule.verbs) {
        const base = { verbs: [verb], apiGroups: [apiGroup], resources: [resource] };
        const names = rule.resourceNames ?? [];
        if (names.length === 0) parts.push(base);
        for (const name of names) parts.push({ ...base, resourceNames: [name] });
      }
  for (const url of rule.nonResourceURLs ?? [])
    for (const verb of rule.verbs) parts.push({ verbs: [verb], nonResourceURLs: [url] });
  return parts;
}

/** The parts of the wanted rules that no held rule covers; empty means all is held. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakdown).filter((part) => !held.some((rule) => covers(rule, part)));
}

function covers(rule: PolicyRule, part: PolicyRule): boolean {
  const [verb = ''] = part.verbs;
  if (!includesOrStar(rule.verbs, verb)) return false;
  const [url] = part.nonResourceURLs ?? [];
  if (url !== undefined) return (rule.nonResourceURLs ?? []).some((held) => urlCovers(held, url));
  const [apiGroup = ''] = part.apiGroups ?? [];
  const [resource = ''] = part.resources ?? [];
  return (
    includesOrStar(rule.apiGroups, apiGroup) &&
    (rule.resources ?? []).some((held) => resourceCovers(held, resource)) &&
    nameMatches(rule.resourceNames, part.resourceNames?.[0])
  );
}

function resourceCovers(held: string, wanted: string): boolean {
  if (held === '*' || held === wanted) return true;
  const subresource = wanted.split('/')[1];
  return subresource !== undefined && held === `*/${subresource}`;
}

function urlCovers(held: string, wanted: string): boolean {
  if (held === wanted) return true;
  return held.endsWith('*') && wanted.startsWith(held.slice(0, -1));
}

/** Joins rules that differ only in their verbs, so that a refusal reads as the user wrote the rule. */
export function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const joined = new Map<string, PolicyRule>();
  const rest: PolicyRule[] = [];
  for (const rule of rules) {
    const simple =
      rule.resources?.length === 1 && rule.apiGroups?.length === 1 && !rule.resourceNames?.length;
    if (!simple) {
      rest.push(rule);
      continue;
    }
    const key = `${rule.apiGroups?.[0]}/${rule.resources?.[0]}`;
    const before = joined.get(key);
    joined.set(key, before ? { ...before, verbs: [...before.verbs, ...rule.verbs] } : rule);
  }
  return [...joined.values(), ...rest];
}

/** A rule as refusals print it: `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`. */
export function describeRule(rule: PolicyRule): string {
  const parts: string[] = [];
  const add = (label: string, list: readonly string[] | undefined) => {
    if (list && list.length > 0) parts.push(`${label}:${quoteList(list)}`);
  };
  add('APIGroups', rule.apiGroups);
  add('Resources', rule.resources);
  add('NonResourceURLs', rule.nonResourceURLs);
  add('ResourceNames', rule.resourceNames);
  add('Verbs', rule.verbs);
  return `{${parts.join(', ')}}`;
}

/** A list of strings as the API prints it in messages: `["a" "b"]`. */
export function quoteList(list: readonly string[]): string {
  return `[${list.map((item) => JSON.stringify(item)).join(' ')}]`;
}
