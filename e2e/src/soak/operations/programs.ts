/** What happens to programs: the operator, slurmctld, slurmrestd and the API server are killed, paused and restarted. */
import { pidsInCluster } from '../../processes.ts';
import { namespace, type SlurmStage } from '../../slurm-stage.ts';
import { type Operation, pause, type Run } from './operation.ts';

const killOperator: Run = async ({ stage }) => {
  await stage.operator.kill();
  await pause(500);
  stage.operator.start();
  return 'kill -9 the operator';
};

const pauseOperator: Run = async ({ stage }) => {
  stage.operator.pause();
  await pause(3_000);
  stage.operator.resume();
  return 'pause the operator for 3 s';
};

const restartOperator: Run = async ({ stage }) => {
  await stage.operator.stop();
  stage.operator.start();
  return 'restart the operator';
};

/** Whether there was one to be told. */
function signal(stage: SlurmStage, program: string, name: NodeJS.Signals): boolean {
  const reached = pidsInCluster(stage.cluster.name, program).map((pid) => send(pid, name));
  return reached.includes(true);
}

/** A process may end between the look and the signal. */
function send(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** SIGTERM: it saves its state and ends; its container is started again. */
const restartProgram =
  (program: string): Run =>
  async ({ stage, outages }) => {
    const ended = signal(stage, program, 'SIGTERM');
    if (ended && program === 'slurmctld') outages.restarts.push(Date.now());
    return ended ? `restart ${program}` : `no ${program} to restart`;
  };

const killProgram =
  (program: string): Run =>
  async ({ stage, outages }) => {
    const killed = signal(stage, program, 'SIGKILL');
    if (killed && program === 'slurmctld') outages.kills.push(Date.now());
    return killed ? `kill -9 ${program}` : `no ${program} to kill`;
  };

const pauseProgram =
  (program: string): Run =>
  async ({ stage }) => {
    const pids = pidsInCluster(stage.cluster.name, program);
    for (const pid of pids) send(pid, 'SIGSTOP');
    await pause(2_000);
    for (const pid of pids)
      if (pidsInCluster(stage.cluster.name, program).includes(pid)) send(pid, 'SIGCONT');
    return `pause ${program} for 2 s`;
  };

const restartApiServer: Run = async ({ stage }) => {
  await stage.cluster.server.restart();
  return 'restart the API server';
};

/** Every connection breaks, and for two seconds every new one too. */
const killApiServer: Run = async ({ stage }) => {
  const heal = stage.cluster.server.faults.reset();
  await stage.cluster.server.restart();
  await pause(2_000);
  heal();
  return 'kill the API server, back after 2 s';
};

const pauseApiServer: Run = async ({ stage }) => {
  const heal = stage.cluster.server.faults.pause();
  await pause(2_000);
  heal();
  return 'pause the API server for 2 s';
};

/** Two replicas instead of one: the first to get the lease works, and one of them is killed. */
const competeForLease: Run = async ({ stage, random }) => {
  await stage.operator.stop();
  const flags = ['--leader-elect', '--leader-elect-namespace', namespace];
  const replicas = [1, 2].map(() => stage.operator.withFlags(flags));
  for (const replica of replicas) replica.start();
  await pause(3_000);
  await random.pick(replicas)?.kill();
  await pause(1_000);
  for (const replica of replicas) await replica.stop();
  stage.operator.start();
  return 'two operators compete, and one is killed';
};

export const ofPrograms: readonly Operation[] = [
  { kind: 'kill -9 the operator', weight: 2, needs: ['operator'], run: killOperator },
  { kind: 'pause the operator', needs: ['operator'], run: pauseOperator },
  { kind: 'restart the operator', needs: ['operator'], run: restartOperator },
  { kind: 'two operators', needs: ['operator'], run: competeForLease },
  { kind: 'kill -9 slurmctld', needs: ['slurmctld'], run: killProgram('slurmctld') },
  { kind: 'pause slurmctld', needs: ['slurmctld'], run: pauseProgram('slurmctld') },
  { kind: 'restart slurmctld', needs: ['slurmctld'], run: restartProgram('slurmctld') },
  { kind: 'kill -9 slurmrestd', run: killProgram('slurmrestd') },
  { kind: 'pause slurmrestd', run: pauseProgram('slurmrestd') },
  { kind: 'restart slurmrestd', run: restartProgram('slurmrestd') },
  { kind: 'kill the API server', needs: ['everything'], run: killApiServer },
  { kind: 'pause the API server', needs: ['everything'], run: pauseApiServer },
  { kind: 'restart the API server', needs: ['everything'], run: restartApiServer },
];
