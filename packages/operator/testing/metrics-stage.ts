/** A simulated Slurm whose metrics are exposed as the operator exposes them. */
import { systemClock } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { staticToken } from '@slurm-operator/slurm';
import { startSimulator } from '@slurm-operator/slurm/testing';
import { Registry } from 'prom-client';
import { ConnectionPool } from '../src/slurm-connection/pool.ts';
import { exposeSlurm } from '../src/slurm-metrics/expose-slurm.ts';

export async function exposed(nodes: string) {
  const simulator = await startSimulator({ nodes });
  const registry = new Registry();
  const pool = new ConnectionPool(systemClock);
  exposeSlurm(pool, registry, () => systemClock.now());
  /** Series → value, of the metrics whose names begin so. */
  const series = async (name = '') => {
    const lines = (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith(`slurm_operator_${name}`));
    return new Map(
      lines.map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice('slurm_operator_'.length, end), Number(line.slice(end + 1))];
      }),
    );
  };
  return {
    simulator,
    cluster: simulator.cluster,
    pool,
    registry,
    series,
    async connect() {
      const connection = await pool.use('hpc/slurm', 'print', () => ({
        server: simulator.server,
        token: staticToken(simulator.token()),
        patience: { pollPeriodMs: 50 },
      }));
      const isKnown = () => connection.gateway.view().kind === 'known' && connection.jobs.kind === 'known';
      await until('the first lists', isKnown);
      return connection;
    },
    /** Connects to a Slurm in which the first nodes have one job each, with all of their GPUs. */
    async run(size: {
      readonly jobs: number;
      readonly gpus: number;
      readonly pending: number;
    }): Promise<void> {
      const { cluster } = simulator;
      for (let at = 0; at < size.jobs; at += 1)
        cluster.runJob([`n${at}`], {
          user: `u${at % 100}`,
          gresDetail: [`gpu:h100:${size.gpus}(IDX:0-${size.gpus - 1})`],
        });
      for (let at = 0; at < size.pending; at += 1) cluster.createJob({ held: true });
      await this.connect();
      const all = size.jobs * size.gpus;
      await until('all GPUs', async () => (await series('job_gpu{')).size === all);
      await until('the reasons of pending jobs', async () => (await series('jobs_pending{')).size === 1);
    },
    async [Symbol.asyncDispose]() {
      await pool.close();
      await simulator[Symbol.asyncDispose]();
    },
  };
}
