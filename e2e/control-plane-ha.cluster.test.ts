/** Two slurmctld on one volume, on real daemons: who is Ready, who takes over, and what is said of it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before as beforeAll, describe, it } from 'node:test';
import { conditionType } from '@slurm-operator/api';
import { controllers } from '@slurm-operator/operator';
import { ControlPlane } from './src/control-plane/control-plane.ts';
import { takeOver } from './src/control-plane/take-over.ts';
import { needsCluster, needsThisMachine } from './src/given/given-cluster.ts';
import { until } from './src/until.ts';
import { wantedSlurm } from './src/wanted-slurm.ts';

describe(`two slurmctld of Slurm ${wantedSlurm()}`, needsCluster(3), () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await ControlPlane.open({
      name: `e2e-ha-${process.pid}`,
      nodes: 3,
      version: wantedSlurm(),
      nodeGraceMs: 8000,
      standby: true,
    });
    await plane.prepare();
    await plane.apply();
    await plane.untilReady();
  });
  after(() => plane?.[Symbol.asyncDispose]());

  const controller = () => plane.stage.client.get(controllers, { namespace: 'slurm', name: 'slurm' });
  const readyPods = async () =>
    (await plane.podsOf('slurmctld'))
      .filter((pod) =>
        pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True'),
      )
      .map(({ metadata }) => metadata.name);

  /** A Slurm whose standby answers like the active one has two that are ready, and we do not guess which is active. */
  const atRest = () =>
    until('both to run', async () => {
      const degraded = await plane.condition(controllers, 'slurm', conditionType.degraded);
      const { status } = await controller();
      const names = await readyPods();
      const told = plane.tellsWhoIsActive
        ? names.length === 1 && status?.activeController === names[0]
        : names.length === 2 && status?.activeController === undefined;
      if (degraded?.status === 'False' && told && status?.readyReplicas === names.length) return true;
      throw new Error(JSON.stringify({ degraded, names, status }));
    });

  it('Ready means that one slurmctld is active; a standby runs and, where Slurm tells, is not ready', async () => {
    await atRest();
    assert.equal((await controller()).status?.replicas, 2);
    const nodes = (await plane.podsOf('slurmctld')).map(({ spec }) => spec?.nodeName);
    assert.equal(new Set(nodes).size, 2, 'on two machines');
    await until('both to answer a ping', async () =>
      /primary.*is UP[\s\S]*backup.*is UP/.test(await plane.slurmctld('scontrol', 'ping')),
    );
  });

  it('when the machine of the active one is lost, the standby takes over, and says who it is', {
    ...needsThisMachine('it powers off a node'),
  }, async () => {
    const { active, seconds, comeBack } = await takeOver(plane);
    console.log(`${active} answers ${seconds.toFixed(1)} s after the machine of the other was lost`);
    await plane.ready(controllers, 'slurm');
    await until(
      `${active} to be told as the active one`,
      async () => (await controller()).status?.activeController === active,
    );
    const degraded = await plane.says(controllers, 'slurm', { type: conditionType.degraded, status: 'True' });
    assert.match(degraded.message, /does not answer|does not respond|no standby is available/);
    await comeBack();
    await atRest();
  });

  it('a new key restarts both slurmctld, although a standby is never ready', async () => {
    const hashes = async () =>
      (await plane.podsOf('slurmctld')).map(
        ({ metadata }) => metadata.annotations?.['slinky.slurm.net/jwt-key-hash'] ?? '',
      );
    const [old = ''] = await hashes();
    await plane.rewrite('keys', { 'jwt.key': randomBytes(32) });
    await until('two slurmctld on the new key', async () => {
      const now = await hashes();
      return now.length === 2 && now.every((hash) => hash !== old);
    });
    await plane.untilReady();
    await atRest();
  });
});
