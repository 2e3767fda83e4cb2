/** A new spec.service.port moves slurm.conf, Services, pods and workers together, and only when no job would be lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotation } from '@slurm-operator/api';
import { aController, operatorDefaults, podFacts } from '../../../../testing/objects.ts';
import { observedController, slurmWork } from '../../../../testing/observed-controller.ts';
import { digestOf } from '../../../objects/digest.ts';
import { slurmctldEndpoints } from '../../../objects/slurmctld-endpoints.ts';
import type { SlurmWork, WorkJob } from '../../../slurm-config/guard/slurm-work.ts';
import { buildControllerStatefulSet } from '../objects/stateful-set.ts';
import type { ObservedController } from '../observe.ts';
import { controllerStatus } from '../status.ts';
import { type ControllerDecision, decideController } from './decide.ts';
import { portIn } from './port-in-force.ts';
import { desiredSlurmConf } from './render.ts';
import { hashes } from './slurmctld-pods.ts';

const job: WorkJob = { id: '7', active: true, partitions: ['all'], nodes: ['w-0'], gres: [], array: false };
const work = (jobs: readonly WorkJob[], accepts = false): SlurmWork =>
  slurmWork({ jobs, partitions: new Map([['all', accepts]]), nodeCount: 1, jobCount: jobs.length });
const silent: SlurmWork = { kind: 'unknown', why: 'slurmrestd does not respond.' };

const since = new Date(0).toISOString();

interface Given {
  readonly spec?: object;
  readonly status?: object;
  readonly annotations?: Record<string, string>;
}

/** A cluster whose slurmctld runs at 6817 and is to run at 7000. */
function observed({ spec, status, annotations = {} }: Given = {}): ObservedController {
  const runs = observedController({ controller: aController({ service: { port: 6817 }, ...spec }) });
  const set = buildControllerStatefulSet({ ...runs, defaults: operatorDefaults, hashes: hashes(runs) });
  return observedController({
    statefulSet: { ...runs.statefulSet, template: set.spec?.template },
    controller: {
      ...aController(
        { service: { port: 7000 }, extraConf: 'PartitionName=all Nodes=ALL', ...spec },
        { annotations },
      ),
      status: { configHash: 'old', slurmctldPort: 6817, heldConfig: { since }, ...status },
    },
    pods: [podFacts({ ready: true, running: true, revision: 'one' })],
    withoutAccounting: true,
    filesInForce: digestOf([]),
  });
}

const inForce = desiredSlurmConf(observed({ spec: { service: { port: 6817 } } }), operatorDefaults) ?? '';

function decide(slurm: SlurmWork, given = observed(), text = inForce): ControllerDecision {
  const evidence = { inForce: { text, owners: {} }, slurm };
  return decideController(given, operatorDefaults, { evidence, now: 0 });
}

/** What each part would use after this decision. */
const portsOf = (
  { services, statefulSet, controller }: ControllerDecision,
  { status }: Partial<ObservedController['controller']> = {},
) => ({
  services: [...new Set(services.flatMap(({ spec }) => spec?.ports?.map(({ port }) => port) ?? []))],
  slurmctld: statefulSet?.spec?.template.spec?.containers[0]?.ports?.[0]?.containerPort,
  clients: slurmctldEndpoints({ ...controller, ...(status && { status }) })[0]?.port,
});
const all = (port: number) => ({ services: [port], slurmctld: port, clients: port });
const written = ({ config }: ControllerDecision) => portIn(config?.data?.['slurm.conf']);
const reported = (decision: ControllerDecision, given = observed(), enforced?: string) =>
  controllerStatus(given, { ...decision, ...(enforced && { enforced }) }, []);

test('while a job runs, every part keeps the port in force, and the condition says why', () => {
  const decision = decide(work([job]));
  assert.deepEqual([written(decision), portsOf(decision)], [6817, all(6817)]);
  assert.equal(decision.wantedRestart, undefined, 'slurmctld is restarted all the same');
  const { conditions, fields } = reported(decision, observed(), decision.configHash);
  const applied = conditions.find(({ type }) => type === 'ConfigApplied');
  assert.equal(applied?.reason, 'ConfigHeld');
  assert.match(
    applied?.message ?? '',
    /SlurmctldPort stays 6817 instead of 7000.*spec\.service\.port.*1 running job \(7\).*force-config=/,
  );
  assert.equal((fields as { slurmctldPort?: number }).slurmctldPort, 6817);
});

test('while Slurm does not respond, and while partitions accept jobs, the port stays', () => {
  for (const slurm of [silent, work([], true)]) {
    const decision = decide(slurm);
    assert.deepEqual([written(decision), portsOf(decision)], [6817, all(6817)]);
  }
});

test('a pending job keeps the port only where slurmctld would forget it', () => {
  const pending = work([{ ...job, active: false, nodes: [] }]);
  assert.equal(written(decide(pending)), 7000);
  const inPod = observed({ spec: { persistence: { enabled: false } } });
  assert.equal(written(decide(pending, inPod)), 6817);
});

test('every part follows when the new slurm.conf is in force, not before', () => {
  const decision = decide(work([]));
  assert.deepEqual([written(decision), portsOf(decision)], [7000, all(6817)], 'it is still to be tried');
  const portAt = (enforced?: string) =>
    (reported(decision, observed(), enforced).fields as { slurmctldPort?: number }).slurmctldPort;
  assert.deepEqual([portAt(), portAt(decision.configHash)], [6817, 7000]);
  const next = observed({ status: { slurmctldPort: 7000, configHash: decision.configHash } });
  const text = decision.config?.data?.['slurm.conf'] ?? '';
  const after = decide(work([job]), next, text);
  assert.deepEqual([written(after), portsOf(after), after.configHold?.waiting], [7000, all(7000), undefined]);
  assert.notEqual(after.wantedRestart, undefined);
});

test('the port in force is read from slurm.conf where an older operator left none in the status', () => {
  const given = observed({ status: { slurmctldPort: undefined } });
  const decision = decide(work([job]), given);
  assert.deepEqual([written(decision), portsOf(decision)], [6817, all(6817)]);
  const { fields } = reported(decision, given);
  assert.equal((fields as { slurmctldPort?: number }).slurmctldPort, 6817);
});

test('a new cluster starts with the port that it asks for', () => {
  const given = observed({ status: { slurmctldPort: undefined, configHash: undefined } });
  const decision = decideController(given, operatorDefaults);
  assert.deepEqual([written(decision), portsOf(decision)], [7000, all(7000)]);
});

test('the token in the message forces the new port', () => {
  const token = decide(work([job])).configHold?.waiting?.token ?? '';
  const forced = decide(work([job]), observed({ annotations: { [annotation.forceConfig]: token } }));
  assert.equal(written(forced), 7000);
});
