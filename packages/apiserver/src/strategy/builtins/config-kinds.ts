/** ConfigMaps and Secrets: keys, sizes, immutability, typed secrets. */

import { configMapKey } from '@slurm-operator/kubernetes-values';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import type { FieldFault } from '../../api/errors.ts';
import { duplicate, forbiddenField, invalidValue, required, tooLong } from '../../api/fault.ts';
import { equal } from '../../api/json.ts';
import { duplicateKeys } from '../../api/json-scan.ts';
import { typed } from '../../api/typed.ts';
import type { KubeObject } from '../../api/types.ts';
import { TOKEN_ISSUER, type TokenClaims } from '../../authorization/service-account-token.ts';
import { serviceAccountUsername } from '../../authorization/user-info.ts';
import type { ServerParts } from '../../resource/request-context.ts';
import type { BuiltinHooks } from './define.ts';

const MAXIMUM_BYTES = 1_048_576;
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';
/** Such tokens do not expire on a real server; ten years are as good here. */
const SECRET_TOKEN_SECONDS = 10 * 365 * 24 * 60 * 60;
const FROZEN = 'field is immutable when `immutable` is set';

const configMap = (object: KubeObject) => typed<IConfigMap>(object);
const secret = (object: KubeObject) => typed<ISecret>(object);

export const configMapHooks: BuiltinHooks = {
  validate(object) {
    const { data = {}, binaryData = {} } = configMap(object);
    const faults = [...keyFaults(data, 'data'), ...keyFaults(binaryData, 'binaryData')];
    for (const key of Object.keys(data)) if (key in binaryData) faults.push(duplicate(`data[${key}]`, key));
    const bytes = textBytes(data) + decodedBytes(binaryData);
    if (bytes > MAXIMUM_BYTES) faults.push(tooLong('[]', MAXIMUM_BYTES));
    return faults;
  },
  validateUpdate: (object, old) => frozenFaults(configMap(object), configMap(old), ['data', 'binaryData']),
};

/** Keys that a secret of a type must hold. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
};

export const secretHooks: BuiltinHooks = {
  decode(object) {
    const it = secret(object);
    // stringData is for writing only: it ends up in data, and wins over it.
    if (it.stringData)
      it.data = {
        ...it.data,
        ...Object.fromEntries(
          Object.entries(it.stringData).map(([key, text]) => [
            key,
            Buffer.from(text ?? '').toString('base64'),
          ]),
        ),
      };
    delete it.stringData;
  },
  default(object) {
    secret(object).type ??= 'Opaque';
  },
  prepareForCreate(object, { parts }) {
    const it = secret(object);
    const account = it.metadata?.annotations?.[ACCOUNT_NAME];
    if (it.type === 'kubernetes.io/service-account-token' && account !== undefined)
      fillAccountToken(parts, it, account);
  },
  validate(object) {
    const { data = {}, type = 'Opaque', metadata } = secret(object);
    const faults = keyFaults(data, 'data');
    if (decodedBytes(data) > MAXIMUM_BYTES) faults.push(tooLong('data', MAXIMUM_BYTES));
    for (const key of NEEDED[type] ?? []) if (!(key in data)) faults.push(required(`data[${key}]`));
    for (const key of NEEDED[type] ?? [])
      if (key.startsWith('.docker') && data[key] !== undefined)
        faults.push(...jsonFaults(data[key], `data[${key}]`));
    if (type === 'kubernetes.io/basic-auth' && !('username' in data) && !('password' in data))
      faults.push(required('data[username]'), required('data[password]'));
    if (type === 'kubernetes.io/service-account-token' && !metadata?.annotations?.[ACCOUNT_NAME])
      faults.push(required('metadata.annotations[kubernetes.io/service-account.name]'));
    return faults;
  },
  validateUpdate(object, old) {
    const typeChanged = secret(object).type !== secret(old).type;
    return [
      ...(typeChanged ? [invalidValue('type', secret(object).type, 'field is immutable')] : []),
      ...frozenFaults(secret(object), secret(old), ['data']),
    ];
  },
};

/** A secret of this type is filled with a token of the account it names, which lives as long as the secret. */
function fillAccountToken(parts: ServerParts, it: ISecret, account: string): void {
  const { name = '', namespace = '', uid = '' } = it.metadata ?? {};
  const found = parts.store.get('/serviceaccounts', namespace, account);
  if (found?.metadata.uid === undefined) return;
  const issued = Math.floor(parts.environment.now() / 1000);
  const claims: TokenClaims = {
    iss: TOKEN_ISSUER,
    sub: serviceAccountUsername(namespace, account),
    aud: [TOKEN_ISSUER],
    iat: issued,
    nbf: issued,
    exp: issued + SECRET_TOKEN_SECONDS,
    jti: parts.environment.uuid(),
    'kubernetes.io': {
      namespace,
      serviceaccount: { name: account, uid: found.metadata.uid },
      secret: { name, uid },
    },
  };
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  it.metadata = {
    ...it.metadata,
    annotations: { ...it.metadata?.annotations, [ACCOUNT_UID]: found.metadata.uid },
  };
  it.data = {
    'ca.crt': base64(parts.authority.certificatePem),
    namespace: base64(namespace),
    token: base64(parts.authenticator.signToken(claims)),
    ...it.data,
  };
}

/** What is in a secret is not shown, only what is wrong with it. */
function jsonFaults(base64: string, path: string): FieldFault[] {
  try {
    duplicateKeys(Buffer.from(base64, 'base64').toString('utf8'));
    return [];
  } catch (error) {
    const detail = error instanceof Error ? error.message : '';
    return [invalidValue(path, '<secret contents redacted>', detail)];
  }
}

function keyFaults(data: Readonly<Record<string, unknown>>, path: string): FieldFault[] {
  return Object.keys(data)
    .toSorted()
    .flatMap((key) => configMapKey(key).map((text) => invalidValue(`${path}[${key}]`, key, text)));
}

function frozenFaults<T extends { immutable?: boolean }>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): FieldFault[] {
  if (old.immutable !== true) return [];
  const faults: FieldFault[] = [];
  if (object.immutable !== true) faults.push(forbiddenField('immutable', FROZEN));
  for (const field of fields)
    if (!equal(object[field], old[field])) faults.push(forbiddenField(field, FROZEN));
  return faults;
}

function textBytes(data: Readonly<Record<string, string>>): number {
  return Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function decodedBytes(data: Readonly<Record<string, string>>): number {
  return Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
}
