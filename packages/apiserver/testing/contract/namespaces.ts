/** The namespaces that recordings take for granted, each with what the controllers put into it. */
import type { Caller } from './backend.ts';
import type { RecordedCase } from './case.ts';
import { eventually } from './eventually.ts';
import { at } from './reductions.ts';

/** How long controllers may take to fill a namespace. */
const controllerDeadline = 60_000;

const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Makes the topic's namespace and every other that the cases use without making it themselves. */
export async function prepareNamespaces(
  caller: Caller,
  topic: string,
  cases: readonly RecordedCase[],
): Promise<void> {
  for (const name of namespacesOf(topic, cases)) await prepareNamespace(caller, name);
}

export function namespacesOf(topic: string, cases: readonly RecordedCase[]): string[] {
  const wanted = new Set([topic]);
  for (const one of cases) {
    const paths = [
      ...(one.setup ?? []).map(({ path }) => path),
      ...one.steps.map(({ request }) => request?.path ?? ''),
    ];
    for (const path of paths) {
      const name = /\/namespaces\/([a-z0-9-]+)\//.exec(path)?.[1];
      if (name !== undefined && !missingOnPurpose.has(name)) wanted.add(name);
    }
  }
  for (const one of cases)
    for (const made of [...(one.setup ?? []), ...one.steps.map((step) => step.request)])
      if (made?.path.split('?')[0] === '/api/v1/namespaces')
        wanted.delete(String(at(made.body, 'metadata', 'name')));
  // Every server has it; no case creates it.
  wanted.delete('default');
  return [...wanted];
}

/** Namespaces that a case wants not to exist. */
const missingOnPurpose = new Set(['ghost']);

async function prepareNamespace(caller: Caller, name: string): Promise<void> {
  const { controllers, caPem = '' } = caller.backend;
  const metadata = { name: caller.names.real(name) };
  await post(caller, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  if (controllers) {
    for (const path of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt'])
      await eventually(
        `a controller made ${path} in namespace ${name}`,
        async () =>
          (await caller.call({ method: 'GET', path: `/api/v1/namespaces/${name}/${path}` })).status === 200,
        { deadline: controllerDeadline },
      );
    return;
  }
  await post(caller, `/api/v1/namespaces/${name}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default' },
  });
  await post(caller, `/api/v1/namespaces/${name}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-root-ca.crt', annotations: { 'kubernetes.io/description': description } },
    data: { 'ca.crt': caPem },
  });
}

/** As the controller manager would write it; what exists already is fine. */
async function post(caller: Caller, path: string, body: unknown): Promise<void> {
  const headers = { 'user-agent': 'kube-controller-manager/v1.36.4' };
  const answer = await caller.call({ method: 'POST', path, body, headers });
  if (answer.status >= 300 && answer.status !== 409)
    throw new Error(`cannot prepare ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
}
