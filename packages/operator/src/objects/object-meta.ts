/** `metadata` of built objects, and of the pod templates inside them. */
import { app, type Component, component, label } from '@slurm-operator/api';
import type { Read } from './read.ts';

/** The labels of everything we make. Selectors use name and instance only: those never change. */
export const selectorLabels = (of: Component, instance: string): Record<string, string> => ({
  [label.name]: app[of],
  [label.instance]: instance,
});

export const objectLabels = (of: Component, instance: string, cluster: string): Record<string, string> => ({
  ...selectorLabels(of, instance),
  [label.component]: component[of],
  [label.partOf]: 'slurm',
  [label.managedBy]: 'slurm-operator',
  [label.cluster]: cluster,
});

interface Owner {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

interface UserMetadata {
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
}

export interface BuiltMeta {
  name: string;
  namespace: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** Annotations that tools put on the custom resource for themselves, and those that mean the custom resource itself. */
const notInherited =
  /^(kubectl\.kubernetes\.io|meta\.helm\.sh|helm\.sh|argocd\.argoproj\.io|kustomize\.toolkit\.fluxcd\.io)\/|^slinky\.slurm\.net\/generate-/;

/** The labels and annotations of a custom resource that its children carry, too. */
export function inheritedMeta({ metadata }: Read<Owner>): Pick<BuiltMeta, 'labels' | 'annotations'> {
  return {
    labels: withoutVersions(metadata.labels ?? {}),
    annotations: Object.fromEntries(
      Object.entries(metadata.annotations ?? {}).filter(([key]) => !notInherited.test(key)),
    ),
  };
}

/** The labels and annotations of the custom resource and of the user's part, below our own. Changes in place, so it may follow both. */
export function builtMeta(
  name: string,
  of: Component,
  owner: Read<Owner>,
  cluster: string,
  user: Read<UserMetadata> = {},
): BuiltMeta {
  const inherited = inheritedMeta(owner);
  return {
    name,
    namespace: owner.metadata.namespace,
    labels: { ...inherited.labels, ...user.labels, ...objectLabels(of, owner.metadata.name, cluster) },
    annotations: { ...inherited.annotations, ...user.annotations },
  };
}

/** A chart's version describes the custom resource, not what the operator builds from it. */
const withoutVersions = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).filter(
      ([key]) => !/^helm\.sh\/chart$|\/version$/.test(key) && key !== label.managedBy,
    ),
  );

/**
 * `metadata` of a pod template. Every change of it restarts a daemon, so it follows `spec.template.metadata` alone: GitOps and backup
 * tools write labels and annotations to custom resources at any time.
 */
export function templateMeta(
  of: Component,
  owner: Read<Owner>,
  cluster: string,
  user: Read<UserMetadata> = {},
): Pick<BuiltMeta, 'labels' | 'annotations'> {
  return {
    labels: { ...user.labels, ...objectLabels(of, owner.metadata.name, cluster) },
    annotations: { ...user.annotations },
  };
}
