/** What a Controller refers to and does not find, and what the rules say of its specification. Pure. */
import { type KeyRef, refProblems } from '../../../cache/references.ts';
import type { Problem } from '../../../framework/status/conditions.ts';
import { type Finding, problemsIn } from '../../../rules/findings.ts';
import { reservedFiles, specRules } from '../../../rules/spec-rules.ts';
import type { ObservedController } from '../observe.ts';
import { wantedKeys } from './wanted-keys.ts';

/** What the webhook would say of this Controller. */
export function controllerFindings({
  controller,
  configMaps,
  claimModes,
}: ObservedController): readonly Finding[] {
  const keysOf = (map: string) => configMaps.find(({ name }) => name === map)?.keys;
  return specRules.Controller(controller, {
    configMapKeys: (name) => {
      const keys = keysOf(name);
      return keys && Object.keys(keys);
    },
    claimModes: () => claimModes,
    hasController: () => true,
    nodeSets: () => [],
  });
}

export function missing(observed: ObservedController): Problem[] {
  const { controller, accounting } = observed;
  const { slurmKeyRef, jwtKeyRef, jwtHs256KeyRef, jwksKeyRef, accountingRef } = controller.spec;
  const { namespace } = controller.metadata;
  const jwt = jwtKeyRef === undefined ? 'jwtHs256KeyRef' : 'jwtKeyRef';
  const { secrets: toCreate, problems: ofKeys } = wantedKeys(observed);
  const secretProblems = (field: string, ref: KeyRef | undefined): Problem[] =>
    toCreate.some(({ name }) => name === ref?.name)
      ? [{ reason: 'Starting', message: `Secret ${ref?.name} is being created.`, passing: true }]
      : refProblems('Secret', field, ref, observed.secrets, namespace);
  const problems = [
    ...ofKeys,
    ...secretProblems('slurmKeyRef', slurmKeyRef),
    ...secretProblems(jwt, jwtKeyRef ?? jwtHs256KeyRef),
    ...refProblems('ConfigMap', 'jwksKeyRef', jwksKeyRef, observed.configMaps, namespace),
  ];
  problems.push(...problemsIn(controllerFindings(observed)));
  // The spec rules cover ConfigMaps with configuration files; these contain scripts.
  const files = new Set(controller.spec.configFileRefs?.map(({ name }) => name));
  for (const { name, keys } of observed.configMaps)
    if (keys === undefined && name !== jwksKeyRef?.name && !files.has(name))
      problems.push({
        reason: 'ConfigMapNotFound',
        message: `the specification refers to ConfigMap ${name}, which does not exist in namespace ${namespace}: create it.`,
      });
  for (const { name, keys } of observed.configMaps)
    for (const reservedFile of reservedFiles)
      if (keys?.[reservedFile] !== undefined && !files.has(name))
        problems.push({
          reason: 'InvalidSpec',
          message: `ConfigMap ${name} contains ${reservedFile}, which the operator writes: put your lines into extraConf.`,
        });
  if (accountingRef?.name && accounting === undefined)
    problems.push({
      reason: 'AccountingNotFound',
      message: `spec.accountingRef.name is "${accountingRef.name}"; no such Accounting exists in namespace ${namespace}: create it, or correct the name. The configuration does not change until then.`,
    });
  return problems;
}
