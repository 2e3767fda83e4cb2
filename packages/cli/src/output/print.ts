/** The answer of a command in the format that was asked for. */
import { stringify } from 'yaml';

export const outputVersion = 'cli.slinky.slurm.net/v1';

export function asJson(kind: string, content: object): string {
  return `${JSON.stringify({ apiVersion: outputVersion, kind, ...content }, plain, 2)}\n`;
}

export function asYaml(kind: string, content: object): string {
  const data: unknown = JSON.parse(asJson(kind, content));
  return stringify(data, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/** Sets and maps have no form in JSON. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Set) return [...value];
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}
