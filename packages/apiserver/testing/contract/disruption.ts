/** Whether a case writes anything that others on a shared cluster could notice. */
import type { RecordedCase } from './case.ts';

/** Writes that stay within the namespaces and example groups of the recordings, or that store nothing. */
const harmless = [
  /^\/apis?\/(?:[^/]+\/)?[^/]+\/namespaces\/(?!default\/|kube-)[^/]+\/./,
  /^\/apis\/apiextensions\.k8s\.io\/v1\/customresourcedefinitions(?:\/[^/]+\.example\.org)?$/,
  /^\/apis\/[^/]+\.example\.org\//,
  /^\/apis\/(?:authorization|authentication)\.k8s\.io\//,
  /^\/api\/v1\/namespaces(?:\/(?!default$|kube-)[^/]+)?$/,
];

export function isDisruptive(recorded: RecordedCase): boolean {
  const writes = [
    ...(recorded.setup ?? []).map(({ path }) => path),
    ...recorded.steps.flatMap(({ request }) =>
      request === undefined || request.method === 'GET' ? [] : [request.path],
    ),
  ];
  return writes.some((path) => !harmless.some((pattern) => pattern.test(path.split('?')[0] ?? '')));
}
