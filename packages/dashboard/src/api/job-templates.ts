/** Templates of jobs out of ConfigMaps: `script`, and a `description` for people. Pure. */
import { label } from '@slurm-operator/api';
import type { ConfigMap, DeepReadonly, Live } from '@slurm-operator/kube';
import type { JobTemplate } from './cluster-view.ts';

const most = 100;
const longestScript = 100_000;
const longestDescription = 500;

/** One that is too long, or has no script, is left out. */
export function templatesOf(
  maps: readonly DeepReadonly<Live<ConfigMap>>[],
  cluster: string,
): readonly JobTemplate[] {
  return maps
    .filter(({ metadata }) => ['', cluster].includes(metadata.labels?.[label.jobTemplate] ?? 'none'))
    .flatMap(({ metadata, data }) => {
      const { script = '', description = '' } = data ?? {};
      if (script === '' || script.length > longestScript) return [];
      return [{ name: metadata.name, description: description.slice(0, longestDescription), script }];
    })
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
    .slice(0, most);
}
