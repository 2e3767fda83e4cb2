/** The Deployment and the Service of slurmrestd. */
import { annotation, app, type Controller, port, type RestApi, resourceName, uid } from '@slurm-operator/api';
import type { Deployment, Service } from '@slurm-operator/kube';
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import { digestOf } from '../../../objects/digest.ts';
import { mergeContainer, mergePodSpec } from '../../../objects/merge-template.ts';
import { builtMeta, selectorLabels, templateMeta } from '../../../objects/object-meta.ts';
import type { OperatorDefaults } from '../../../objects/operator-defaults.ts';
import type { Read } from '../../../objects/read.ts';
import { buildService, restApiPort } from '../../../objects/service.ts';
import { clusterNameOf, slurmctldEndpoints } from '../../../objects/slurmctld-endpoints.ts';

export interface RestApiInput {
  readonly restApi: Read<RestApi>;
  readonly controller: Read<Controller>;
  readonly defaults: OperatorDefaults;
}

export function buildRestApiService(restApi: Read<RestApi>): Service {
  const { name } = restApi.metadata;
  return buildService({
    metadata: builtMeta(
      resourceName.restapi(name),
      'restapi',
      restApi,
      restApi.spec.controllerRef.name,
      restApi.spec.service?.metadata,
    ),
    selector: selectorLabels('restapi', name),
    port: { name: app.restapi, number: restApiPort(restApi), target: app.restapi },
    nodePort: restApi.spec.service?.nodePort,
    user: restApi.spec.service?.spec,
  });
}

export function buildRestApiDeployment(input: RestApiInput): Deployment {
  const { restApi, controller } = input;
  const { name } = restApi.metadata;
  const { template } = restApi.spec;
  const meta = builtMeta(
    resourceName.restapi(name),
    'restapi',
    restApi,
    controller.metadata.name,
    template?.metadata,
  );
  const podMeta = templateMeta('restapi', restApi, controller.metadata.name, template?.metadata);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta,
    spec: {
      replicas: restApi.spec.replicas,
      revisionHistoryLimit: 0,
      selector: { matchLabels: selectorLabels('restapi', name) },
      template: {
        metadata: {
          labels: podMeta.labels,
          annotations: {
            ...podMeta.annotations,
            [annotation.defaultContainer]: app.restapi,
            // slurmrestd reads slurm.conf once; this is what it takes from it.
            [annotation.slurmConfigHash]: digestOf({
              clusterName: clusterNameOf(controller),
              endpoints: slurmctldEndpoints(controller),
              accounting: controller.spec.accountingRef?.name ?? '',
            }),
          },
        },
        spec: mergePodSpec(generatedSpec(input), template?.spec as Partial<IPodSpec> | undefined),
      },
    },
  };
}

function generatedSpec(input: RestApiInput): IPodSpec {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid.nobody,
      runAsGroup: uid.nobody,
      fsGroup: uid.nobody,
    },
    containers: [slurmrestd(input)],
    volumes: [
      // No key: a token passes through to slurmctld, which checks it.
      {
        name: 'slurm-etc',
        projected: {
          defaultMode: 0o440,
          sources: [
            {
              configMap: {
                name: resourceName.config(input.controller.metadata.name),
                items: [{ key: 'slurm.conf', path: 'slurm.conf' }],
              },
            },
          ],
        },
      },
    ],
  };
}

function slurmrestd({ restApi, controller, defaults }: RestApiInput): IContainer {
  const probe = { tcpSocket: { port: app.restapi } };
  const base: IContainer = {
    name: app.restapi,
    image: defaults.images.slurmrestd,
    // Without accounting the slurmdbd plugin would only fail.
    args: controller.spec.accountingRef?.name ? [] : ['-s', 'openapi/slurmctld'],
    env: [
      { name: 'SLURM_JWT', value: 'daemon' },
      // Without indentation a list of nodes is 40 % smaller.
      { name: 'SLURMRESTD_JSON', value: 'compact' },
      { name: 'SLURMRESTD_SECURITY', value: 'disable_unshare_files,disable_unshare_sysv' },
    ],
    ports: [{ name: app.restapi, containerPort: port.slurmrestd, protocol: 'TCP' }],
    startupProbe: { ...probe, failureThreshold: 30, periodSeconds: 2 },
    livenessProbe: { ...probe, failureThreshold: 6, periodSeconds: 10 },
    readinessProbe: { ...probe, periodSeconds: 3 },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: uid.nobody,
      runAsGroup: uid.nobody,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'slurm-etc', mountPath: '/etc/slurm', readOnly: true }],
  };
  const merged = mergeContainer(base, restApi.spec.slurmrestd as Partial<IContainer> | undefined);
  return { ...merged, args: [...(merged.args ?? []), `0.0.0.0:${port.slurmrestd}`] };
}
