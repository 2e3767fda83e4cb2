/** The defaults of a pod template, and the few more that a Pod itself gets. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IProbe } from 'kubernetes-models/v1/Probe';
import type { IVolume } from 'kubernetes-models/v1/Volume';

import { containerRequests, isPodLevel } from './validate-resources.ts';

const DEFAULT_FILE_MODE = 0o644;

/** What templates of workloads and Pods share. */
export function defaultPodSpec(spec: IPodSpec): void {
  spec.restartPolicy ??= 'Always';
  spec.terminationGracePeriodSeconds ??= 30;
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.securityContext ??= {};
  spec.schedulerName ??= 'default-scheduler';
  // Two names of one field; the old one is kept for old clients.
  if (spec.serviceAccountName !== undefined) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount !== undefined) spec.serviceAccountName = spec.serviceAccount;
  for (const container of containersOf(spec)) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
}

/** What only a Pod gets, and its templates do not. */
export function defaultPod(spec: IPodSpec): void {
  defaultPodSpec(spec);
  spec.enableServiceLinks ??= true;
  for (const container of containersOf(spec)) {
    defaultRequests(container);
    if (spec.hostNetwork) for (const port of container.ports ?? []) port.hostPort ??= port.containerPort;
  }
  if (spec.resources) defaultPodRequests(spec, spec.resources);
}

/** A pod as a whole asks for what its containers ask for together, else for what it is limited to. */
function defaultPodRequests(spec: IPodSpec, resources: NonNullable<IPodSpec['resources']>): void {
  const requests = { ...resources.requests };
  for (const [name, total] of containerRequests(spec)) requests[name] ??= total.toString();
  for (const [name, limit] of Object.entries(resources.limits ?? {}))
    if (isPodLevel(name)) requests[name] ??= limit;
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

/** All containers of a pod: main, init and ephemeral ones. */
export function containersOf(spec: IPodSpec): IContainer[] {
  return [
    ...(spec.initContainers ?? []),
    ...(spec.containers ?? []),
    ...((spec.ephemeralContainers ?? []) as IContainer[]),
  ];
}

function defaultContainer(container: IContainer): void {
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  container.imagePullPolicy ??= pullPolicyOf(container.image ?? '');
  for (const port of container.ports ?? []) port.protocol ??= 'TCP';
  for (const variable of container.env ?? []) {
    const fieldRef = variable.valueFrom?.fieldRef;
    if (fieldRef) fieldRef.apiVersion ??= 'v1';
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe])
    if (probe) defaultProbe(probe);
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop])
    defaultHttpGet(handler?.httpGet);
}

function defaultProbe(probe: IProbe): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function defaultHttpGet(action: { path?: string; scheme?: string } | undefined): void {
  if (!action) return;
  action.path ??= '/';
  action.scheme ??= 'HTTP';
}

/** An image that may change under its name (no tag, or "latest") is always pulled; a digest never changes. */
function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** What a container is limited to it also asks for, unless it asks for something else. */
function defaultRequests(container: IContainer): void {
  const { limits } = container.resources ?? {};
  if (!container.resources || !limits) return;
  const requests = { ...container.resources.requests };
  for (const [name, limit] of Object.entries(limits)) requests[name] ??= limit;
  container.resources.requests = requests;
}

function defaultVolume(volume: IVolume): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  if (volume.secret) volume.secret.defaultMode ??= DEFAULT_FILE_MODE;
  if (volume.configMap) volume.configMap.defaultMode ??= DEFAULT_FILE_MODE;
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= DEFAULT_FILE_MODE;
    defaultFieldRefs(volume.downwardAPI.items);
  }
  if (volume.projected) {
    volume.projected.defaultMode ??= DEFAULT_FILE_MODE;
    for (const source of volume.projected.sources ?? []) {
      if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
      defaultFieldRefs(source.downwardAPI?.items);
    }
  }
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
  if (claim) claim.volumeMode ??= 'Filesystem';
  if (volume.ephemeral?.volumeClaimTemplate) volume.ephemeral.volumeClaimTemplate.metadata ??= {};
}

function defaultFieldRefs(items: { fieldRef?: { apiVersion?: string } }[] | undefined): void {
  for (const { fieldRef } of items ?? []) if (fieldRef) fieldRef.apiVersion ??= 'v1';
}
