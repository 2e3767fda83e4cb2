/** Every pod runs as a service account of its namespace and gets its token mounted. */
import type { IPod } from 'kubernetes-models/v1/Pod';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { forbidden } from '../../api/errors.ts';
import { type AdmissionPlugin, createdObject } from '../plugin.ts';

const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
// A little over an hour, so that a client can tell this default from an explicit value.
const TOKEN_SECONDS = 3607;

export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  mutate(attributes, { parts }) {
    const pod = createdObject(attributes, '', 'pods') as
      | (IPod & { metadata: { annotations?: object } })
      | undefined;
    if (!pod?.spec || (pod.metadata.annotations && MIRROR_ANNOTATION in pod.metadata.annotations)) return;
    const { spec } = pod;
    const { namespace, name } = attributes;
    spec.serviceAccountName ??= 'default';
    spec.serviceAccount = spec.serviceAccountName;
    const account = parts.store.get('/serviceaccounts', namespace, spec.serviceAccountName) as
      | IServiceAccount
      | undefined;
    if (account === undefined)
      throw forbidden(
        { group: '', resource: 'pods' },
        name,
        `error looking up service account ${namespace}/${spec.serviceAccountName}: serviceaccount ${JSON.stringify(spec.serviceAccountName)} not found`,
      );
    if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length)
      spec.imagePullSecrets = structuredClone(account.imagePullSecrets);
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
      mountToken(spec, `kube-api-access-${parts.environment.nameSuffix(5)}`);
  },
};

function mountToken(spec: IPodSpec, volumeName: string): void {
  const bare = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    (container) => !container.volumeMounts?.some((mount) => mount.mountPath === TOKEN_PATH),
  );
  if (bare.length === 0) return;
  for (const container of bare)
    container.volumeMounts = [
      ...(container.volumeMounts ?? []),
      { name: volumeName, readOnly: true, mountPath: TOKEN_PATH },
    ];
  spec.volumes = [
    ...(spec.volumes ?? []),
    {
      name: volumeName,
      projected: {
        defaultMode: 0o644,
        sources: [
          { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
      },
    },
  ];
}
