/** The installation of the demo, with the images of the given registry where a cluster is given. */
import type { Helm } from '@slurm-operator/charts';
import * as demo from '@slurm-operator/demo/install';
import { givenRegistry, inGivenRegistry } from './given-cluster.ts';

export const installOperator = (
  helm: Helm,
  values: object = {},
  options: Parameters<typeof demo.installOperator>[2] = {},
): Promise<void> => demo.installOperator(helm, { registry: givenRegistry, ...values }, options);

export const installMariadb = (kubectl: demo.Kubectl, namespace: string, password: string): Promise<void> =>
  demo.installMariadb(kubectl, namespace, password, inGivenRegistry);
