/** The files of a trial: what the operator renders into a ConfigMap, and the volumes in which slurmctld finds them. */
import { type Controller, resourceName } from '@slurm-operator/api';
import type { ConfigMap } from '@slurm-operator/kube';
import { jwksSource, keySources } from '../../objects/key-sources.ts';
import { builtMeta } from '../../objects/object-meta.ts';
import type { Read } from '../../objects/read.ts';
import { referencedConfigMaps } from '../render/config-map.ts';
import { waitForNodesFile } from '../render/wait-for-nodes.ts';
import {
  filesLeftOut,
  renderTrialConf,
  renderTrialGres,
  type TrialRound,
  type TrialScope,
} from './trial-conf.ts';
import type { TrialPart } from './trial-worker.ts';

export const trialName = (controller: string, part = ''): string =>
  `${resourceName.configTrial(controller)}${part === '' ? '' : `-${part}`}`;

/** What a trial is made from, beside the Controller. */
export interface TrialTexts {
  /** slurm.conf and cgroup.conf in force, to compare with; undefined where the site's own files have changed as well. */
  readonly current: Readonly<Record<string, string>> | undefined;
  /** The site's gres.conf. */
  readonly gresConf: string | undefined;
}

/** The files that the trial reads, beside the configuration that it is about. */
export function buildTrialConfig(
  controller: Read<Controller>,
  config: ConfigMap,
  { current, gresConf }: TrialTexts = { current: undefined, gresConf: undefined },
): ConfigMap {
  const { name } = controller.metadata;
  const next = config.data?.['slurm.conf'] ?? '';
  const now = current?.['slurm.conf'];
  const cgroup = current?.['cgroup.conf'];
  const both = (scope: TrialScope): Record<string, string> => ({
    [confKey('new', scope)]: renderTrialConf(next, 'new', scope),
    ...(now === undefined ? {} : { [confKey('current', scope)]: renderTrialConf(now, 'current', scope) }),
  });
  return {
    ...config,
    metadata: builtMeta(trialName(name), 'controller', controller, name),
    data: {
      ...config.data,
      [confKey('check', 'image')]: renderTrialConf(next, 'check'),
      ...both('image'),
      ...both('node'),
      ...(cgroup === undefined ? {} : { [currentCgroup]: cgroup }),
      ...(gresConf === undefined ? {} : { [trialGres]: renderTrialGres(gresConf) }),
    },
  };
}

const confKey = (round: TrialRound, scope: TrialScope): string => `${scope}.${round}.slurm.conf`;
const currentCgroup = 'current.cgroup.conf';
const trialGres = 'trial.gres.conf';

export interface TrialFilesInput {
  readonly controller: Read<Controller>;
  readonly part?: TrialPart;
  /** Keys of the ConfigMap that `buildTrialConfig` made. */
  readonly rendered?: readonly string[];
  /** The site's own ConfigMaps, and the files in them where they are known. */
  readonly files?: readonly { readonly name: string; readonly keys: readonly string[] | undefined }[];
}

export const slurmctldOnly: TrialPart = { id: '', scope: 'image', workers: [] };

/** A volume for each round: what the operator rendered, the keys, and the site's own files. */
export function trialVolumes({
  controller,
  part = slurmctldOnly,
  rendered = [],
  files = [],
}: TrialFilesInput) {
  const map = trialName(controller.metadata.name);
  const has = (key: string) => rendered.includes(key);
  const item = (key: string, path: string) => (has(key) ? [{ key, path }] : []);
  const known = new Map(files.map(({ name, keys }) => [name, keys]));
  const volume = (round: TrialRound, name: string) => {
    const { scope } = part;
    const leftOut = round === 'check' ? [] : [...filesLeftOut, ...(scope === 'image' ? ['gres.conf'] : [])];
    const site = referencedConfigMaps(controller).flatMap((one) => {
      const keys = known.get(one);
      if (keys === undefined || !keys.some((key) => leftOut.includes(key)))
        return [{ configMap: { name: one } }];
      const items = keys.filter((key) => !leftOut.includes(key)).map((key) => ({ key, path: key }));
      return items.length === 0 ? [] : [{ configMap: { name: one, items } }];
    });
    const own = [
      { key: confKey(round, round === 'check' ? 'image' : scope), path: 'slurm.conf' },
      ...item(round === 'current' ? currentCgroup : 'cgroup.conf', 'cgroup.conf'),
      ...item(waitForNodesFile, waitForNodesFile),
      ...(leftOut.includes('gres.conf') ? item(trialGres, 'gres.conf') : []),
    ];
    return {
      round,
      volume: {
        name,
        projected: {
          defaultMode: 0o550,
          sources: [
            { configMap: { name: map, items: own } },
            ...keySources(controller.spec),
            ...site,
            ...jwksSource(controller.spec),
          ],
        },
      },
    };
  };
  return [
    volume('check', 'slurm-etc'),
    ...(part.workers.length === 0 ? [] : [volume('new', 'new')]),
    ...(part.workers.length > 0 && has(confKey('current', part.scope)) ? [volume('current', 'current')] : []),
  ];
}
