/**
 * Which keys a Controller asks to have made. A chart cannot make them: what a template draws at random would change with
 * every rendering. Pure.
 */
import { annotation } from '@slurm-operator/api';
import type { KeyRef } from '../../../cache/references.ts';
import type { Problem } from '../../../framework/status/conditions.ts';
import type { ObservedController } from '../observe.ts';

export interface WantedSecret {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Keys inside it, and how many random bytes each has. */
  readonly bytes: Readonly<Record<string, number>>;
}

/**
 * Only Secrets that do not exist, and only until slurmctld was started for the first time: a user who loses the key of a
 * running cluster must get it back from a backup. A new one would lock out every daemon that still has the old.
 */
export function wantedKeys(observed: Pick<ObservedController, 'controller' | 'secrets' | 'statefulSet'>): {
  readonly secrets: readonly WantedSecret[];
  readonly problems: readonly Problem[];
} {
  const { controller, secrets, statefulSet } = observed;
  const { external, slurmKeyRef, jwtKeyRef, jwtHs256KeyRef } = controller.spec;
  const found = new Map<string, WantedSecret>();
  const problems: Problem[] = [];
  const asked: readonly (readonly [string, KeyRef | undefined, number])[] = [
    // auth/slurm takes any length; a JWT key of 32 bytes is what HS256 uses fully.
    [annotation.generateSlurmKey, slurmKeyRef, 1024],
    [annotation.generateJwtKey, jwtKeyRef ?? jwtHs256KeyRef, 32],
  ];
  for (const [name, ref, bytes] of asked) {
    const text = controller.metadata.annotations?.[name];
    if (text === undefined || ref === undefined || external) continue;
    const annotations = readAnnotations(text);
    if (annotations === undefined) {
      problems.push({
        reason: 'InvalidSpec',
        message: `the annotation ${name} must be a JSON object with string values: write {}, or the annotations of the Secret.`,
        stillReady: true,
      });
      continue;
    }
    if (statefulSet.exists || secrets.find((one) => one.name === ref.name)?.keys !== undefined) continue;
    const known = found.get(ref.name);
    found.set(ref.name, {
      name: ref.name,
      annotations: { ...known?.annotations, ...annotations },
      bytes: { ...known?.bytes, [ref.key]: bytes },
    });
  }
  return { secrets: [...found.values()], problems };
}

function readAnnotations(text: string): Record<string, string> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.values(value).every((one) => typeof one === 'string')
    ? (value as Record<string, string>)
    : undefined;
}
