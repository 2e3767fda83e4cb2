/** What the plan and the status of a LoginSet are made from. Reads caches, and changes nothing. */
import { type Controller, type LoginSet, resourceName } from '@slurm-operator/api';
import { type Cache, type Deployment, deployments, type Live, secrets } from '@slurm-operator/kube';
import { type Digests, digestsOf } from '../../cache/references.ts';
import { controllers } from '../../cache/resources.ts';
import type { Problem } from '../../framework/status/conditions.ts';
import { type PodFacts, podsOf } from '../../framework/status/pods.ts';
import { loginKeyDigest } from '../../keys/slurm-key.ts';
import { cachedFacts, problemsIn } from '../../rules/findings.ts';
import { specRules } from '../../rules/spec-rules.ts';

export interface ObservedLoginSet {
  readonly loginSet: Live<LoginSet>;
  readonly controller: Live<Controller> | undefined;
  readonly deployment: Live<Deployment> | undefined;
  /** Digests by file; undefined while the Secret does not exist. */
  readonly hostKeys: Readonly<Record<string, string>> | undefined;
  /** Of sssd.conf and of the Slurm key. */
  readonly secrets: readonly Digests[];
  /** The digest that running pods are compared with; undefined without a Controller. */
  readonly slurmKeyDigest: string | undefined;
  readonly pods: readonly PodFacts[];
  readonly specProblems: readonly Problem[];
}

export function observeLoginSet(cache: Cache, loginSet: Live<LoginSet>): ObservedLoginSet {
  const { namespace, name } = loginSet.metadata;
  const { controllerRef, sssdConfRef } = loginSet.spec;
  const controller = cache.get(controllers, { namespace, name: controllerRef.name });
  const slurmKey = controller?.spec.slurmKeyRef?.name;
  const names = [sssdConfRef.name, ...(slurmKey === undefined ? [] : [slurmKey])];
  return {
    loginSet,
    controller,
    deployment: cache.get(deployments, { namespace, name: resourceName.login(name) }),
    hostKeys: cache.get(secrets, { namespace, name: resourceName.sshHostKeys(name) })?.data,
    secrets: names.map((one) => digestsOf(cache, 'Secret', namespace, one)),
    slurmKeyDigest: controller === undefined ? undefined : loginKeyDigest(cache, controller),
    pods: podsOf(cache, 'login', namespace, name),
    specProblems: problemsIn(specRules.LoginSet(loginSet, cachedFacts(cache, loginSet.metadata))),
  };
}
