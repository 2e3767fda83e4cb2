/** What a case makes outside of its namespaces: no namespace takes it along, so the cluster would keep it. */
import type { RecordedCase } from './case.ts';
import { at } from './reductions.ts';

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Paths of those objects, in the order in which they are made. */
export function leftovers(recorded: RecordedCase): string[] {
  const sent: Sent[] = [
    ...(recorded.setup ?? []),
    ...recorded.steps.flatMap(({ request }) => (request === undefined ? [] : [request])),
  ];
  return [...new Set(sent.flatMap(made))];
}

function made({ method = 'POST', path, headers = {}, body }: Sent): string[] {
  const [resource = '', query = ''] = path.split('?');
  // The namespace `default` stays, and so would what a case makes in it.
  if (/\/namespaces\/(?!default\/)/.test(resource) || query.includes('dryRun')) return [];
  // Questions, which are answered and not kept.
  if (/\/apis\/(?:authorization|authentication)\.k8s\.io\//.test(resource)) return [];
  if (method === 'PATCH' && headers['content-type']?.startsWith('application/apply-patch')) return [resource];
  const name = at(body, 'metadata', 'name');
  return method === 'POST' && typeof name === 'string' ? [`${resource}/${name}`] : [];
}
