/** The keys that daemons sign and verify with, as Controller, Accounting and Token name them. */
import { optional, type Rule } from '../schema/fields.ts';
import { configMapKey, named, secretKey } from './references.ts';

export const slurmKeyRef = optional(
  secretKey('Secret with the key of auth/slurm, with which all daemons of the cluster authenticate.', [
    named('slurmKeyRef', 'Secret with the Slurm key'),
  ]),
);

export const jwtKeyRefs = {
  jwtKeyRef: optional(
    secretKey('Secret with the HS256 key that signs JSON Web Tokens, 32 bytes or more.', [
      named('jwtKeyRef', 'Secret with the JWT key'),
    ]),
  ),
  jwtHs256KeyRef: optional(
    secretKey('Deprecated: use jwtKeyRef. Used if jwtKeyRef is absent.', [
      named('jwtHs256KeyRef', 'Secret with the JWT key'),
    ]),
  ),
};

export const jwksKeyRef = optional(
  configMapKey('ConfigMap with a JSON Web Key Set, to also accept tokens of an identity provider.', [
    named('jwksKeyRef', 'ConfigMap with the key set'),
  ]),
);

const effective = (object: string, leaf: 'name' | 'key'): string =>
  `(has(${object}.jwtKeyRef) ? ${object}.jwtKeyRef.${leaf} : has(${object}.jwtHs256KeyRef) ? ${object}.jwtHs256KeyRef.${leaf} : '')`;

/** The reference in use may not change; its Secret's content may, and both spellings are one reference. */
export const jwtKeyIsFixed: Rule = {
  rule: `${effective('self', 'name')} == ${effective('oldSelf', 'name')} && ${effective('self', 'key')} == ${effective('oldSelf', 'key')}`,
  message:
    'the JWT key reference cannot change after creation: change the content of the Secret it names, or create a new object',
};

/** No daemon runs on the key of an external object, and upstream's chart leaves its reference out. */
export const jwtKeyIsFixedUnlessExternal: Rule = {
  ...jwtKeyIsFixed,
  rule: `self.external && oldSelf.external || ${effective('oldSelf', 'name')} == '' || ${jwtKeyIsFixed.rule}`,
};

/** What an object that runs its own daemons needs, and what one that points elsewhere needs. */
export const internalOrExternal: readonly Rule[] = [
  {
    rule: '!self.external ? has(self.slurmKeyRef) : true',
    message: 'slurmKeyRef must be set when external is false',
    reason: 'FieldValueRequired',
  },
  {
    rule: '!self.external ? has(self.jwtKeyRef) || has(self.jwtHs256KeyRef) : true',
    message: 'jwtKeyRef or jwtHs256KeyRef must be set when external is false',
    reason: 'FieldValueRequired',
  },
  {
    rule: 'self.external ? has(self.externalConfig) : true',
    message: 'externalConfig must be set when external is true',
    reason: 'FieldValueRequired',
  },
];
