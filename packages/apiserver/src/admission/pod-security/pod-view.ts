/** A pod as the security standards look at it: its containers of every kind, in order, and how they are named in texts. */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';

export type Container = Pick<IContainer, 'name' | 'image' | 'ports' | 'securityContext'>;

export interface PodView {
  readonly spec: IPodSpec;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What a pod does that a standard forbids: `privileged (container "c" must not set …)`. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type Check = (pod: PodView) => Violation | undefined;

export function containersOf({ spec }: PodView): readonly Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

/** `container "a"`, `containers "a", "b"`. */
export function named(what: string, names: readonly string[]): string {
  return `${what}${names.length === 1 ? '' : 's'} ${quoted(names)}`;
}

export function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ');
}

/** A check of each container alone. */
export function eachContainer(
  reason: string,
  offends: (container: Container) => boolean,
  detail: string,
): Check {
  return (pod) => {
    const names = containersOf(pod)
      .filter(offends)
      .map(({ name }) => name);
    return names.length === 0 ? undefined : { reason, detail: `${named('container', names)} ${detail}` };
  };
}

export function isWindows({ spec }: PodView): boolean {
  return spec.os?.name === 'windows';
}
