/** What is wrong with the volumes of a pod. */

import { dnsLabel, dnsSubdomain } from '@slurm-operator/kubernetes-values';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { FieldFault } from '../../../api/errors.ts';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../api/fault.ts';
import { claimSpecFaults } from '../validate-claim.ts';
import { projectedFaults } from './validate-projected-volume.ts';
import { downwardFaults, itemFaults, modeFaults } from './volume-files.ts';

const LONGEST_DRIVER = 63;
const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** In the order in which the API looks at them: of several, the first one counts. */
const sourceOrder =
  `emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker
  persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume
  photonPersistentDisk portworxVolume azureDisk storageos projected scaleIO csi ephemeral image`.split(/\s+/);
/** One is misspelt by the real server. */
const shownSource: Readonly<Record<string, string>> = { downwardAPI: 'downwarAPI' };

/** A volume with a fault is unknown to the mounts of containers. */
export function validateVolume(volume: IVolume, path: string, names: Set<string>): FieldFault[] {
  const keys = Object.keys(volume).toSorted((a, b) => sourceOrder.indexOf(a) - sourceOrder.indexOf(b));
  const [first, ...more] = keys.filter((key) => key !== 'name') as (keyof IVolume)[];
  const faults = first === undefined ? [] : sourceFaults(volume, first, `${path}.${first}`);
  for (const extra of more)
    faults.push(
      forbiddenField(`${path}.${shownSource[extra] ?? extra}`, 'may not specify more than 1 volume type'),
    );
  if (!volume.name) faults.push(required(`${path}.name`));
  else faults.push(...dnsLabel(volume.name).map((text) => invalidValue(`${path}.name`, volume.name, text)));
  if (names.has(volume.name)) faults.push(duplicate(`${path}.name`, volume.name));
  if (faults.length === 0) names.add(volume.name);
  return faults;
}

function sourceFaults(volume: IVolume, type: keyof IVolume, path: string): FieldFault[] {
  switch (type) {
    case 'emptyDir':
      return String(volume.emptyDir?.sizeLimit ?? '').startsWith('-')
        ? [forbiddenField(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
        : [];
    case 'hostPath':
      return hostPathFaults(volume.hostPath ?? { path: '' }, path);
    case 'secret':
      return [
        ...(volume.secret?.secretName ? [] : [required(`${path}.secretName`)]),
        ...modeFaults(volume.secret?.defaultMode, `${path}.defaultMode`),
        ...itemFaults(volume.secret?.items, path),
      ];
    case 'configMap':
      return [
        ...(volume.configMap?.name ? [] : [required(`${path}.name`)]),
        ...modeFaults(volume.configMap?.defaultMode, `${path}.defaultMode`),
        ...itemFaults(volume.configMap?.items, path),
      ];
    case 'downwardAPI':
      return [
        ...modeFaults(volume.downwardAPI?.defaultMode, `${path}.defaultMode`),
        ...(volume.downwardAPI?.items ?? []).flatMap((item, index) => downwardFaults(item, path, index)),
      ];
    case 'persistentVolumeClaim':
      return volume.persistentVolumeClaim?.claimName ? [] : [required(`${path}.claimName`)];
    case 'nfs':
      return [
        ...(volume.nfs?.server ? [] : [required(`${path}.server`)]),
        ...absoluteFaults(volume.nfs?.path, `${path}.path`),
      ];
    case 'csi':
      return driverFaults(volume.csi?.driver, `${path}.driver`);
    case 'projected':
      return projectedFaults(volume.projected ?? {}, path);
    case 'ephemeral': {
      const template = volume.ephemeral?.volumeClaimTemplate;
      if (!template) return [required(`${path}.volumeClaimTemplate`)];
      return claimSpecFaults(template.spec, `${path}.volumeClaimTemplate.spec`);
    }
    default:
      return [];
  }
}

export function hostPathFaults(source: { path: string; type?: string }, path: string): FieldFault[] {
  if (!source.path) return [required(`${path}.path`)];
  const faults = source.path.split('/').includes('..')
    ? [invalidValue(`${path}.path`, source.path, "must not contain '..'")]
    : [];
  if (source.type !== undefined && !hostPathTypes.includes(source.type))
    faults.push(notSupported(`${path}.type`, source.type, hostPathTypes));
  return faults;
}

export function driverFaults(driver: string | undefined, path: string): FieldFault[] {
  if (!driver) return [required(path)];
  if (driver.length > LONGEST_DRIVER) return [tooLong(path, LONGEST_DRIVER)];
  return dnsSubdomain(driver.toLowerCase()).map((text) => invalidValue(path, driver, text));
}

export function absoluteFaults(text: string | undefined, path: string): FieldFault[] {
  if (!text) return [required(path)];
  return text.startsWith('/') ? [] : [invalidValue(path, text, 'must be an absolute path')];
}
