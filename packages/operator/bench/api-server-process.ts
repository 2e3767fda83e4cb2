/** The API server of the benchmark, in a process of its own. Tells its kubeconfig over the IPC channel. */
import { startApiServer } from '@slurm-operator/apiserver';

const server = await startApiServer();
process.on('disconnect', () => process.exit(0));
process.send?.({ kubeconfig: server.kubeconfig() });
