/** What is installed to have Slurm on a cluster, and how it is used: kubectl, ssh, REST. The tests install the same way. */
export {
  installedImages,
  installMariadb,
  installOperator,
  installSlurm,
  operatorNamespace,
  smallMachine,
  smallMachineLines,
} from './install.ts';
export { type Forwarded, Kubectl } from './kubectl.ts';
export { LoginKey } from './login-session.ts';
export { ldap, mariadb, type Neighbour, neighbour } from './neighbour.ts';
export { RestSession } from './rest-session.ts';
