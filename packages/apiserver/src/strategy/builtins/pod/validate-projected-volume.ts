/** What is wrong with a volume that is put together from several sources. */
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { FieldFault } from '../../../api/errors.ts';
import { forbiddenField, invalidValue, required } from '../../../api/fault.ts';
import { downwardFaults, itemFaults, modeFaults, relativeFaults } from './volume-files.ts';

type Projected = NonNullable<IVolume['projected']>;
type Source = NonNullable<Projected['sources']>[number];

const SHORTEST_TOKEN_SECONDS = 600;
const LONGEST_TOKEN_SECONDS = 2 ** 32;

export function projectedFaults({ defaultMode, sources = [] }: Projected, path: string): FieldFault[] {
  const taken = new Set<string>();
  return [
    ...modeFaults(defaultMode, `${path}.defaultMode`),
    ...sources.flatMap((source, index) => sourceFaults(source, `${path}.sources[${index}]`, path, taken)),
  ];
}

function sourceFaults(source: Source, at: string, path: string, taken: Set<string>): FieldFault[] {
  const [first, ...more] = Object.keys(source) as (keyof Source)[];
  if (first === undefined) return [required(at)];
  const faults = contentFaults(source, first, at);
  for (const { file, owner } of filesOf(source)) {
    if (taken.has(file)) faults.push(invalidValue(path, owner, 'conflicting duplicate paths'));
    taken.add(file);
  }
  for (const type of more)
    faults.push(forbiddenField(`${at}.${type}`, 'may not specify more than 1 volume type per source'));
  return faults;
}

function contentFaults(source: Source, type: keyof Source, at: string): FieldFault[] {
  const path = `${at}.${type}`;
  switch (type) {
    case 'secret':
    case 'configMap':
      return [
        ...(source[type]?.name ? [] : [required(`${path}.name`)]),
        ...itemFaults(source[type]?.items, path),
      ];
    case 'downwardAPI':
      return (source.downwardAPI?.items ?? []).flatMap((item, index) => downwardFaults(item, path, index));
    case 'serviceAccountToken':
      return tokenFaults(source.serviceAccountToken ?? { path: '' }, path);
    default:
      return [];
  }
}

function tokenFaults(
  token: { readonly path?: string; readonly expirationSeconds?: number },
  path: string,
): FieldFault[] {
  const { expirationSeconds: seconds } = token;
  const faults: FieldFault[] = [];
  const refuse = (detail: string) =>
    void faults.push(invalidValue(`${path}.expirationSeconds`, seconds, detail));
  if (seconds !== undefined && seconds < SHORTEST_TOKEN_SECONDS)
    refuse('may not specify a duration less than 10 minutes');
  if (seconds !== undefined && seconds > LONGEST_TOKEN_SECONDS)
    refuse('may not specify a duration larger than 2^32 seconds');
  if (!token.path) faults.push(required(`${path}.path`));
  else faults.push(...relativeFaults(token.path, `${path}.path`));
  return faults;
}

/** Every file by name, with what a message about it shows. */
function filesOf({ secret, configMap, downwardAPI, serviceAccountToken }: Source) {
  const named = (file: string | undefined, owner: string) => (file ? [{ file, owner }] : []);
  return [
    ...(secret?.items ?? []).flatMap(({ path }) => named(path, secret?.name ?? '')),
    ...(configMap?.items ?? []).flatMap(({ path }) => named(path, configMap?.name ?? '')),
    ...(downwardAPI?.items ?? []).flatMap(({ path }) => named(path, path)),
    ...named(serviceAccountToken?.path, serviceAccountToken?.path ?? ''),
  ];
}
