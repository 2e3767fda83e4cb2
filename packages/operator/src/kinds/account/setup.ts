/** Which changes trigger a reconcile of an Account. */
import type { Account } from '@slurm-operator/api';
import type { Live, Manager, ObjectRef } from '@slurm-operator/kube';
import { accountings, accounts, clusters, controllers, qualitiesOfService } from '../../cache/resources.ts';
import { accountName } from './fields.ts';
import { type AccountOptions, accountReconciler } from './reconciler.ts';

export function setupAccounts(
  manager: Manager,
  { workers, ...options }: AccountOptions & { readonly workers: number },
): void {
  const { cache } = manager;
  const objects = (namespace: string, isMeant: (account: Live<Account>) => boolean): ObjectRef[] =>
    cache
      .list(accounts, { namespace })
      .filter(isMeant)
      .map(({ metadata }) => metadata);
  const of = (namespace: string, accounting: string | undefined) =>
    objects(namespace, ({ spec }) => spec.accountingRef.name === accounting);
  manager
    .controller('account-controller')
    .for(accounts)
    // The parent of another one, one that an older object declared, or that has the default of a member.
    .watches(accounts, (changed) => {
      const name = accountName(changed);
      const users = new Set(
        (changed.spec.members ?? []).filter((one) => one.default).map(({ user }) => user),
      );
      return objects(
        changed.metadata.namespace,
        (account) =>
          account.metadata.uid !== changed.metadata.uid &&
          (accountName(account) === name ||
            account.spec.parent === name ||
            (users.size > 0 &&
              (account.spec.members ?? []).some((one) => one.default === true && users.has(one.user)))),
      );
    })
    // A QOS that an account waits for was written.
    .watches(qualitiesOfService, ({ metadata, spec }) => {
      const name = spec.name || metadata.name;
      return objects(metadata.namespace, (account) => waitsFor(account) && usesQos(account, name));
    })
    .watches(accountings, ({ metadata: { namespace, name } }) => of(namespace, name))
    .watches(controllers, ({ metadata: { namespace }, spec }) => of(namespace, spec.accountingRef?.name))
    // Its connection was opened, or its database is back.
    .watches(clusters, ({ metadata: { namespace }, spec }) => {
      const controller = cache.get(controllers, { namespace, name: spec.controllerRef?.name ?? '' });
      return of(namespace, controller?.spec.accountingRef?.name);
    })
    .options({ workers })
    .reconcile(accountReconciler(manager, options));
}

const waitsFor = ({ status }: Live<Account>): boolean =>
  (status?.conditions ?? []).some(({ reason }) => reason === 'QosNotFound');

const usesQos = ({ spec }: Live<Account>, name: string): boolean =>
  [spec, ...(spec.members ?? [])].some(
    ({ qos, defaultQos }) => defaultQos === name || (qos ?? []).includes(name),
  );
