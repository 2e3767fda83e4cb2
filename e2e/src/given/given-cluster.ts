/** The cluster that the tests run on when one is given (`KUBECONFIG=… make test TIER=cluster`), and what that changes for them. */
import { resolve } from 'node:path';
import type { Helm } from '@slurm-operator/charts';
import * as demo from '@slurm-operator/demo/install';
import { type ClusterRecord, findCluster, listClusters } from '@slurm-operator/localcluster';
import { needsRoot } from '../needs-root.ts';

/** The value of KUBECONFIG; empty where every test starts a localcluster of its own. */
export const givenKubeconfig = process.env['GIVEN_KUBECONFIG'] ?? '';
export const isGiven = givenKubeconfig !== '';
/** In front of every image on a given cluster. */
export const givenRegistry = isGiven ? (process.env['REGISTRY'] ?? '') : '';

export const inGivenRegistry = (image: string): string =>
  givenRegistry === '' ? image : `${givenRegistry.replace(/\/$/, '')}/${image}`;

/** Whether images are built here and loaded; else they are on the nodes of the given cluster, or in its registry. */
export const loadsImages = !isGiven || process.env['GIVEN_LOADS_IMAGES'] === '1';

interface TestOptions {
  readonly skip: string | false;
}

/** Options of a test that needs a cluster with so many nodes that take pods: a given one, or root to start one here. */
export function needsCluster(nodes = 1): TestOptions {
  if (!isGiven) return needsRoot;
  const found = Number(process.env['GIVEN_NODES'] ?? nodes);
  return { skip: found >= nodes ? false : `not run here: needs ${nodes} nodes, the cluster has ${found}` };
}

/** Options of a test with images that only tests build. */
export const needsTestImages: TestOptions = {
  skip: loadsImages ? false : 'not run here: needs images that only the tests build and load',
};

/** Options of a test that needs more than the Kubernetes API. */
export const needsThisMachine = (why: string): TestOptions =>
  isGiven ? { skip: `not run here: ${why}` } : needsRoot;

/** The localcluster that a kubeconfig belongs to, if it is one of this machine: images reach it by `load-image`. */
export async function localClusterOf(kubeconfig: string): Promise<ClusterRecord | undefined> {
  for (const name of await listClusters()) {
    const { record } = await findCluster(name);
    if (record !== undefined && resolve(record.kubeconfig) === resolve(kubeconfig)) return record;
  }
  return undefined;
}

/** The installation of the demo, with the images of the given registry where a cluster is given. */
export const installOperator = (
  helm: Helm,
  values: object = {},
  options: Parameters<typeof demo.installOperator>[2] = {},
): Promise<void> => demo.installOperator(helm, { registry: givenRegistry, ...values }, options);

export const installMariadb = (kubectl: demo.Kubectl, namespace: string, password: string): Promise<void> =>
  demo.installMariadb(kubectl, namespace, password, inGivenRegistry);
