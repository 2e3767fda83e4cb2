/**
 * /healthz, /livez and /readyz, whole, verbose, or one check at a time. The checks are those a real server names, so
 * that probes written for it work; this server is one process that is up when it answers.
 */
import type { Answer } from '../resource/answer.ts';

const hooksBeforeEnd = [
  'start-apiserver-admission-initializer',
  'generic-apiserver-start-informers',
  'priority-and-fairness-config-consumer',
  'priority-and-fairness-filter',
  'storage-object-count-tracker-hook',
  'start-apiextensions-informers',
  'start-apiextensions-controllers',
  'crd-informer-synced',
  'start-system-namespaces-controller',
  'peer-endpoint-reconciler-controller',
  'start-cluster-authentication-info-controller',
  'start-kube-apiserver-identity-lease-controller',
  'start-kube-apiserver-identity-lease-garbage-collector',
  'storage-readiness',
  'start-legacy-token-tracking-controller',
  'start-service-ip-repair-controllers',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-kubernetes-service-cidr-controller',
  'aggregator-reload-proxy-client-cert',
  'start-kube-aggregator-informers',
  'apiservice-status-local-available-controller',
  'apiservice-status-remote-available-controller',
  'apiservice-registration-controller',
  'apiservice-discovery-controller',
  'kube-apiserver-autoregistration',
].map((name) => `poststarthook/${name}`);

const hooks = [
  ...hooksBeforeEnd,
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

const checks: Readonly<Record<string, readonly string[]>> = {
  healthz: ['ping', 'log', 'etcd', 'loopback-serving-certificate', ...hooks],
  livez: ['ping', 'log', 'etcd', 'loopback-serving-certificate', ...hooks],
  readyz: ['ping', 'log', 'etcd', 'etcd-readiness', 'informer-sync', ...hooks, 'shutdown'],
};

export function healthPaths(): string[] {
  return Object.entries(checks).flatMap(([name, each]) => [
    `/${name}`,
    ...each.map((check) => `/${name}/${check}`),
  ]);
}

export function healthAnswer(path: string, query: URLSearchParams): Answer | undefined {
  const [, name = '', check = ''] = /^\/([^/]+)(?:\/(.+?))?\/?$/.exec(path) ?? [];
  const known = checks[name];
  if (known === undefined || (check !== '' && !known.includes(check))) return undefined;
  const wanted = check === '' ? known.filter((each) => !query.getAll('exclude').includes(each)) : [check];
  const lines = wanted.map((each) => `[+]${each} ok\n`).join('');
  const text = query.has('verbose') ? `${lines}${name} check passed\n` : 'ok';
  return { type: 'text', status: 200, contentType: 'text/plain; charset=utf-8', text };
}
