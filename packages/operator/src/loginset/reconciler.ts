/** The LoginSet controller: login nodes in front of a Controller. */
import { annotation, app, type LoginSet, label, resourceName } from '@slurm-operator/api';
import {
  AlreadyExistsError,
  configMaps,
  controllerReference,
  deployments,
  type Live,
  type ReconcileContext,
  type Request,
  secrets,
  services,
} from '@slurm-operator/kube';
import { digestOf } from '../builders/digest.ts';
import {
  buildHostKeys,
  buildLoginDeployment,
  buildLoginService,
  buildSshConfig,
} from '../builders/login/login.ts';
import type { Surroundings } from '../builders/surroundings.ts';
import { type Digests, digestBehind, digestsOf, refTroubles } from '../cache/references.ts';
import { controllers, loginSets } from '../cache/resources.ts';
import { keysVerdict } from '../keys/keys-verdict.ts';
import { slurmKeyDigest } from '../keys/slurm-key.ts';
import { keepTemplateMetadata } from '../reconcile/keep-template-metadata.ts';
import { leaveRollingUpdate } from '../reconcile/leave-rolling-update.ts';
import { type ReconcilerNeeds, reconcileObject } from '../reconcile/reconcile-object.ts';
import type { Steps } from '../reconcile/steps.ts';
import { cachedFacts } from '../rules/cached-facts.ts';
import { specTroubles } from '../rules/findings.ts';
import { specRules } from '../rules/spec-rules.ts';
import { type Trouble, type Verdict, verdicts } from '../status/judge.ts';
import { podsOf, podTroubles } from '../status/pods.ts';
import { deploymentTroubles } from '../status/workload.ts';
import { makeHostKeys } from './host-keys.ts';

export class LoginSetReconciler {
  readonly #manager: ReconcilerNeeds;
  readonly #around: Surroundings;

  constructor(manager: ReconcilerNeeds, around: Surroundings) {
    this.#manager = manager;
    this.#around = around;
  }

  readonly reconcile = async (request: Request, context: ReconcileContext): Promise<void> => {
    await reconcileObject(this.#manager, loginSets, request, context, {
      act: (loginSet, steps) => this.#run(loginSet, steps, context.signal),
      report: (loginSet, found, failures) => {
        const { namespace, name } = loginSet.metadata;
        const deployment = this.#manager.cache.get(deployments, {
          namespace,
          name: resourceName.login(name),
        });
        const troubles = [...found, ...failures];
        if (troubles.length === 0) troubles.push(...this.#podTroubles(loginSet, deployment));
        return {
          fields: {
            replicas: deployment?.status?.replicas ?? 0,
            readyReplicas: deployment?.status?.readyReplicas ?? 0,
            selector: `${label.name}=${app.login},${label.instance}=${name}`,
          },
          verdicts: [
            ...verdicts([...troubles, ...this.#specTroubles(loginSet)], 'Users can log in.'),
            this.#keysCurrent(loginSet),
          ],
        };
      },
    });
  };

  async #run(loginSet: Live<LoginSet>, steps: Steps, signal: AbortSignal): Promise<Trouble[]> {
    const { cache, client, owned } = this.#manager;
    const { namespace, name } = loginSet.metadata;
    const { controllerRef, sssdConfRef } = loginSet.spec;
    const controller = cache.get(controllers, { namespace, name: controllerRef.name });
    const keys = await this.#hostKeys(loginSet, steps, signal);
    const [service, sshConfig] = [buildLoginService(loginSet), buildSshConfig(loginSet)];
    const configured = await steps.run(`ConfigMap ${sshConfig.metadata.name}`, () =>
      owned.apply(configMaps, loginSet, sshConfig, { signal }),
    );
    await steps.run(`Service ${service.metadata.name}`, () =>
      owned.apply(services, loginSet, service, { signal }),
    );
    if (controller === undefined) return this.#specTroubles(loginSet);
    const { slurmKeyRef } = controller.spec;
    const names = [sssdConfRef.name, ...(slurmKeyRef === undefined ? [] : [slurmKeyRef.name])];
    const known: Digests[] = names.map((one) => digestsOf(cache, 'Secret', namespace, one));
    const troubles = refTroubles('Secret', 'sssdConfRef', sssdConfRef, known, namespace);
    if (digestBehind(known, slurmKeyRef) === '')
      troubles.push({
        reason: 'SecretNotFound',
        message: `the Slurm key of Controller ${controllerRef.name} is missing: login nodes need it to speak with Slurm.`,
      });
    // A running login node is left as it is; one that could only hang is not started.
    const exists = cache.get(deployments, { namespace, name: resourceName.login(name) }) !== undefined;
    if (keys === undefined || !configured || (troubles.length > 0 && !exists)) return troubles;
    const deployment = buildLoginDeployment({
      loginSet,
      controller,
      around: this.#around,
      hashes: {
        slurmKey: digestBehind(known, slurmKeyRef),
        sssdConf: digestBehind(known, sssdConfRef),
        hostKeys: digestOf(keys),
      },
    });
    await steps.run(`Deployment ${deployment.metadata.name}`, async () => {
      const live = cache.get(deployments, deployment.metadata);
      await leaveRollingUpdate(client, deployments, loginSet, live, deployment, signal);
      await owned.apply(deployments, loginSet, keepTemplateMetadata(live, deployment), { signal });
    });
    return troubles;
  }

  #specTroubles(loginSet: Live<LoginSet>): Trouble[] {
    return specTroubles(specRules.LoginSet(loginSet, cachedFacts(this.#manager.cache, loginSet.metadata)));
  }

  /** The key and sssd.conf are copied when a login node starts: a new one takes a new node. */
  #keysCurrent({ metadata: { namespace, name }, spec }: Live<LoginSet>): Verdict {
    const { cache } = this.#manager;
    const controller = cache.get(controllers, { namespace, name: spec.controllerRef.name });
    const { name: secret, key } = spec.sssdConfRef;
    return keysVerdict(podsOf(cache, 'login', namespace, name), {
      ...(controller === undefined ? {} : { [annotation.slurmKeyHash]: slurmKeyDigest(cache, controller) }),
      [annotation.sssdConfHash]: digestBehind([digestsOf(cache, 'Secret', namespace, secret)], {
        name: secret,
        key,
      }),
    });
  }

  /** Made once. Whoever deletes them gets others, and is told: every user will be warned of a changed host. */
  async #hostKeys(
    loginSet: Live<LoginSet>,
    steps: Steps,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>> | undefined> {
    const { cache, client, recorder } = this.#manager;
    const { namespace, name } = loginSet.metadata;
    const ref = { namespace, name: resourceName.sshHostKeys(name) };
    const known = cache.get(secrets, ref)?.data;
    if (known !== undefined) return known;
    await steps.run(`Secret ${ref.name}`, async () => {
      const secret = buildHostKeys(loginSet, await makeHostKeys());
      try {
        // Created, never applied: a cache that lags must not replace keys that are there.
        await client.create(
          secrets,
          { ...secret, metadata: { ...secret.metadata, ownerReferences: [controllerReference(loginSet)] } },
          { signal },
        );
      } catch (error) {
        if (!(error instanceof AlreadyExistsError)) throw error;
        return;
      }
      recorder.normal(loginSet, 'HostKeysCreated', `Made the SSH host keys in Secret ${ref.name}`, 'Create');
    });
    return cache.get(secrets, ref)?.data;
  }

  #podTroubles(loginSet: Live<LoginSet>, deployment: Parameters<typeof deploymentTroubles>[0]): Trouble[] {
    const { namespace, name } = loginSet.metadata;
    const { replicas } = loginSet.spec;
    if (replicas > 0 && (deployment?.status?.readyReplicas ?? 0) === 0) {
      const [first] = podTroubles(
        podsOf(this.#manager.cache, 'login', namespace, name),
        namespace,
        'No login node is ready yet.',
      );
      if (first !== undefined) return [first];
    }
    return deploymentTroubles(deployment, replicas);
  }
}
