/**
 * The trial of a configuration: a second slurmctld, in a pod of its own, on the new files and with other port, state
 * and pid. A foreground slurmctld dies on a file that it cannot use, so what it would refuse must never reach it.
 */
import { annotation, app, type Controller, uid } from '@slurm-operator/api';
import type { ConfigMap, Pod } from '@slurm-operator/kube';
import type { IContainer } from 'kubernetes-models/v1/Container';
import { jwksSource, keySources } from '../key-sources.ts';
import { builtMeta } from '../object-meta.ts';
import type { Read } from '../read.ts';
import type { Surroundings } from '../surroundings.ts';
import { referencedConfigMaps } from './stateful-set.ts';

/** `app.kubernetes.io/name` of the pod that tries a configuration. */
export const trialApp = 'config-check';

/** With this the trial says that slurmctld refuses the configuration. Every other bad end has another cause: no image, no memory, no machine. */
export const refusedCode = 1;

/** Names the configuration that a trial is about. */
export const trialAnnotation = 'controller.slinky.slurm.net/config-trial';

export const trialName = (controller: string): string => `${controller}-config-check`;

/**
 * Where slurmctld runs is replaced, accounting is left out (it would register there), and the rest is as it will be.
 * A slurmctld that takes its office is content (that it listens says nothing: it does so before it reads partitions), and
 * so is one that lives for a while without a word; one that ends says why, and its last words become those of the pod.
 */
const script = `set -u
dir=/tmp/trial
mkdir -p "$dir/state"
cp -rL /etc/slurm/* "$dir/"
chmod -R u+rwX,go-rwx "$dir"
sed -E -i '/^[[:space:]]*(SlurmctldHost|SlurmctldAddr|SlurmctldPort|StateSaveLocation|SlurmctldPidFile|SlurmctldLogFile|AccountingStorage[A-Za-z]*)[[:space:]]*=/Id' "$dir/slurm.conf"
printf '\\nSlurmctldHost=%s\\nSlurmctldPort=16817\\nStateSaveLocation=%s/state\\nSlurmctldPidFile=%s/pid\\nAccountingStorageType=accounting_storage/none\\n' "$(hostname)" "$dir" "$dir" >>"$dir/slurm.conf"
slurmctld -D -f "$dir/slurm.conf" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 80); do
  if ! kill -0 "$pid" 2>/dev/null; then
    grep -E 'error|fatal' "$dir/log" | tail -n 4 >&2 || cat "$dir/log" >&2
    exit ${refusedCode}
  fi
  if grep -q 'Running as primary controller' "$dir/log"; then break; fi
  sleep 0.1
done
kill -KILL "$pid"
exit 0`;

export function buildTrialConfig(controller: Read<Controller>, config: ConfigMap): ConfigMap {
  const { name } = controller.metadata;
  return { ...config, metadata: builtMeta(trialName(name), 'controller', controller, name) };
}

export function buildTrialPod(controller: Read<Controller>, around: Surroundings, digest: string): Pod {
  const { name, namespace } = controller.metadata;
  const { slurmctld, template } = controller.spec;
  const { imagePullSecrets, nodeSelector, tolerations } = template?.spec ?? {};
  const memory = { emptyDir: { medium: 'Memory' as const } };
  const container: IContainer = {
    name: 'slurmctld',
    image: slurmctld?.image ?? around.images.slurmctld,
    ...(slurmctld?.imagePullPolicy === undefined ? {} : { imagePullPolicy: slurmctld.imagePullPolicy }),
    command: ['/bin/bash', '-c', script],
    // The last words of slurmctld are the verdict.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true },
      { name: 'run', mountPath: '/run' },
      { name: 'authsocket', mountPath: '/run/slurmctld' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
  const labels = {
    // Not those of slurmctld: no Service and no budget may take it for one.
    'app.kubernetes.io/name': trialApp,
    'app.kubernetes.io/instance': name,
    'app.kubernetes.io/component': 'config-check',
    'app.kubernetes.io/part-of': 'slurm',
    'app.kubernetes.io/managed-by': 'slurm-operator',
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: trialName(name),
      namespace,
      labels,
      annotations: { [trialAnnotation]: digest, [annotation.defaultContainer]: app.controller },
    },
    spec: {
      restartPolicy: 'Never',
      // The image may have to be fetched first, by a machine that never had it.
      activeDeadlineSeconds: 600,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: uid.slurm,
        runAsGroup: uid.slurm,
        fsGroup: uid.slurm,
      },
      ...(imagePullSecrets === undefined
        ? {}
        : { imagePullSecrets: imagePullSecrets as { name?: string }[] }),
      ...(nodeSelector === undefined ? {} : { nodeSelector }),
      ...(tolerations === undefined ? {} : { tolerations: tolerations as object[] }),
      containers: [container],
      volumes: [
        {
          name: 'slurm-etc',
          projected: {
            defaultMode: 0o550,
            sources: [
              { configMap: { name: trialName(name) } },
              ...keySources(controller.spec),
              ...referencedConfigMaps(controller).map((map) => ({ configMap: { name: map } })),
              ...jwksSource(controller.spec),
            ],
          },
        },
        { name: 'run', ...memory },
        { name: 'authsocket', ...memory },
        { name: 'tmp', ...memory },
      ],
    },
  };
}
