/** Puts the operator together: one manager, one pool of connections, one controller per kind. */
import type { Manager } from '@slurm-operator/kube';
import { setupDisruptionBudgets } from '../disruption/setup.ts';
import { setupAccounts } from '../kinds/account/setup.ts';
import { setupAccountings } from '../kinds/accounting/setup.ts';
import type { ClusterOptions } from '../kinds/cluster/reconciler.ts';
import { setupClusters } from '../kinds/cluster/setup.ts';
import { setupControllers } from '../kinds/controller/setup.ts';
import { setupLoginSets } from '../kinds/loginset/setup.ts';
import { EndingNamespaces } from '../kinds/nodeset/ending-namespaces.ts';
import type { NodeConditionRule } from '../kinds/nodeset/model/node-conditions.ts';
import { setupNodeSets } from '../kinds/nodeset/setup.ts';
import { setupQualitiesOfService } from '../kinds/qos/setup.ts';
import { setupRestApis } from '../kinds/restapi/setup.ts';
import { setupTokens } from '../kinds/token/setup.ts';
import type { OperatorDefaults } from '../objects/operator-defaults.ts';
import { AccountingBatches } from '../slurm-connection/accounting-batches.ts';
import { AccountingRows } from '../slurm-connection/accounting-rows.ts';
import { ConnectionPool, type DebugVars, debugVars } from '../slurm-connection/pool.ts';
import { WorkSurvey } from '../slurm-connection/work-survey.ts';
import { exposeSlurm } from '../slurm-metrics/expose-slurm.ts';
import { setupCache } from './cached-objects.ts';
import { exposeObjects } from './object-metrics.ts';

/** The program of SlinkyProject/slurm-operator is called manager, and so is whatever it wrote to our children. */
const predecessors = ['manager'];

export interface OperatorOptions extends OperatorDefaults, Pick<ClusterOptions, 'reachBy' | 'slurm'> {
  /** Reconciles at a time, for each kind. */
  readonly workers: Readonly<
    Record<
      | 'account'
      | 'controller'
      | 'nodeset'
      | 'restapi'
      | 'accounting'
      | 'loginset'
      | 'token'
      | 'qos'
      | 'slurmclient',
      number
    >
  >;
  /** Requests under way at once for one NodeSet. */
  readonly nodeSetParallel: number;
  /** Node conditions that explain a cordon, or drain. */
  readonly propagatedConditions: readonly NodeConditionRule[];
}

export interface Operator {
  /** What `/debug/vars` serves, on loopback: the pool of connections as it is now, without secrets. */
  readonly debugVars: () => DebugVars;
}

/** Adds everything to the manager; `manager.start` then runs it. */
export function setupOperator(manager: Manager, options: OperatorOptions): Operator {
  const pool = new ConnectionPool(manager.clock, manager.elector?.assertLeading);
  const { workers } = options;
  setupCache(manager.cache);
  manager.owned.inheritFrom(predecessors);
  setupClusters(manager, pool, { ...options, workers: workers.slurmclient });
  setupControllers(manager, options, {
    workers: workers.controller,
    survey: new WorkSurvey(pool, manager.clock),
  });
  setupRestApis(manager, options, { workers: workers.restapi });
  setupAccountings(manager, options, { workers: workers.accounting });
  setupLoginSets(manager, options, { workers: workers.loginset });
  setupTokens(manager, { workers: workers.token });
  const assertMayWrite = manager.elector?.assertLeading;
  const rows = new AccountingRows(() => manager.clock.now());
  const batches = new AccountingBatches({ rows, clock: manager.clock, assertMayWrite });
  setupQualitiesOfService(manager, { pool, rows, batches, assertMayWrite, workers: workers.qos });
  setupAccounts(manager, { pool, rows, batches, assertMayWrite, workers: workers.account });
  setupNodeSets(manager, pool.gateways, {
    workers: workers.nodeset,
    slurmChanges: pool.changes,
    clusterDomain: options.clusterDomain,
    defaultImage: options.images.slurmd,
    propagatedConditions: options.propagatedConditions,
    // Events of Nodes are in the namespace default, where an operator of other namespaces may not write.
    nodeEvents: manager.namespaces.length === 0 || manager.namespaces.includes('default'),
    parallel: options.nodeSetParallel,
  });
  if (manager.namespaces.length > 0) manager.add(new EndingNamespaces(manager, manager.namespaces));
  setupDisruptionBudgets(manager);
  exposeObjects(manager.cache, manager.metrics.registry);
  exposeSlurm(pool, manager.metrics.registry, () => manager.clock.now());
  manager.add(
    {
      name: 'slurm connections',
      async run(signal) {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
          if (signal.aborted) resolve();
        });
        await pool.close();
      },
    },
    // Ends after the controllers: one that is finishing would open a connection again, or call a closed one a failure.
    { everywhere: true },
  );
  return { debugVars: () => debugVars(pool) };
}
