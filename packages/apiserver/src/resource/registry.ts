/** The resources that are served now. CRDs come and go, so everything looks here at each request. */
import type { ResourceDefinition } from './resource-definition.ts';

export class Registry {
  readonly #definitions = new Map<string, ResourceDefinition>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  /** Changes with every registration; good as a cache key. */
  get generation(): number {
    return this.#generation;
  }

  register(definition: ResourceDefinition): void {
    this.#definitions.set(key(definition.group, definition.version, definition.plural), definition);
    this.#changed();
  }

  unregister(group: string, version: string, plural: string): void {
    if (this.#definitions.delete(key(group, version, plural))) this.#changed();
  }

  find(group: string, version: string, plural: string): ResourceDefinition | undefined {
    return this.#definitions.get(key(group, version, plural));
  }

  /** The definition of a kind; any version when none is given. */
  findKind(group: string, kind: string, version?: string): ResourceDefinition | undefined {
    for (const definition of this.#definitions.values())
      if (
        definition.group === group &&
        definition.kind === kind &&
        (version === undefined || definition.version === version)
      )
        return definition;
    return undefined;
  }

  /** All definitions in the order of registration. */
  all(): readonly ResourceDefinition[] {
    return [...this.#definitions.values()];
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.all().some((definition) => definition.group === group && definition.version === version);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.#generation += 1;
    for (const listener of this.#listeners) listener();
  }
}

function key(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
