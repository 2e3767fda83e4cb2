/** slurmdbd.conf of an Accounting. */
import { type Accounting, port, resourceName } from '@slurm-operator/api';
import type { Read } from '../../../objects/read.ts';
import { type RenderedConf, renderConf } from '../../../slurm-config/conf-file.ts';
import { secretSetting, setting } from '../../../slurm-config/setting.ts';

const reserved = {
  DbdHost: 'the operator sets the address of slurmdbd',
  DbdPort: 'set spec.service.port, which clients use',
  SlurmUser: 'the images run slurmdbd as slurm',
  StoragePass: 'set spec.storageConfig.passwordKeyRef',
};

export function buildSlurmdbdConf(accounting: Read<Accounting>, password: string): RenderedConf {
  const { storageConfig, jwksKeyRef, extraConf } = accounting.spec;
  const merged = {
    AuthInfo: ['use_client_ids'],
    AuthAltParameters: [
      'jwt_key=/etc/slurm/jwt.key',
      ...(jwksKeyRef === undefined ? [] : ['jwks=/etc/slurm/jwks.json']),
    ],
  };
  return renderConf({
    sections: [
      {
        title: 'GENERAL',
        settings: [
          setting('DbdHost', `${resourceName.accounting(accounting.metadata.name)}-0`),
          setting('DbdPort', port.slurmdbd),
          setting('SlurmUser', 'slurm'),
          setting('PidFile', '/run/slurmdbd/slurmdbd.pid'),
        ],
      },
      {
        title: 'PLUGINS & PARAMETERS',
        settings: [
          setting('AuthType', 'auth/slurm'),
          setting('AuthAltTypes', 'auth/jwt'),
          ...Object.entries(merged).map(([key, options]) => setting(key, options.join(','))),
        ],
      },
      {
        title: 'STORAGE',
        settings: [
          setting('StorageType', 'accounting_storage/mysql'),
          setting('StorageHost', storageConfig?.host ?? ''),
          setting('StoragePort', storageConfig?.port ?? port.mysql),
          ...(storageConfig?.username ? [setting('StorageUser', storageConfig.username)] : []),
          setting('StorageLoc', storageConfig?.database ?? ''),
          secretSetting('StoragePass', password),
        ],
      },
    ],
    extra: extraConf,
    merged,
    reserved,
  });
}
