/** Which changes make a Token be looked at. */
import { type Manager, secrets } from '@slurm-operator/kube';
import { controllers, tokens } from '../../cache/resources.ts';
import { jwtKeyOf } from '../../objects/key-sources.ts';
import { tokenReconciler } from './reconciler.ts';

export function setupTokens(manager: Manager, options: { workers: number }): void {
  const { cache } = manager;
  manager
    .controller('token-controller')
    .for(tokens)
    .owns(secrets)
    .watches(secrets, ({ metadata: { namespace, name } }) =>
      cache
        .list(tokens, { namespace })
        .filter(({ spec }) => jwtKeyOf(spec)?.name === name)
        .map(({ metadata }) => metadata),
    )
    .watches(controllers, ({ metadata, spec }) =>
      cache
        .list(tokens, { namespace: metadata.namespace })
        .filter((token) => jwtKeyOf(token.spec)?.name === jwtKeyOf(spec)?.name)
        .map((token) => token.metadata),
    )
    .options({ workers: options.workers })
    .reconcile(tokenReconciler(manager));
}
