/** What a user may override, one test per weakness that is known elsewhere. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeContainer, mergePodSpec } from './merge-template.ts';

test('false, 0, empty text and an empty list of the user are honoured (upstream weakness 8)', () => {
  const container = mergeContainer(
    {
      name: 'slurmd',
      tty: true,
      workingDir: '/x',
      securityContext: { privileged: true, runAsUser: 401, capabilities: { add: ['SYS_ADMIN'] } },
      command: ['a'],
    },
    {
      tty: false,
      workingDir: '',
      securityContext: { privileged: false, runAsUser: 0, capabilities: { add: [] } },
      command: [],
    },
  );
  assert.deepEqual(container, {
    name: 'slurmd',
    tty: false,
    workingDir: '',
    securityContext: { privileged: false, runAsUser: 0, capabilities: { add: [] } },
    command: [],
  });
  const pod = mergePodSpec(
    { containers: [], terminationGracePeriodSeconds: 30, automountServiceAccountToken: true },
    { terminationGracePeriodSeconds: 0, automountServiceAccountToken: false },
  );
  assert.deepEqual([pod.terminationGracePeriodSeconds, pod.automountServiceAccountToken], [0, false]);
});

test('a probe without a handler keeps ours; one with a handler replaces it (upstream weakness 9)', () => {
  const ours = { httpGet: { path: '/livez', port: 'slurmctld' }, periodSeconds: 10 };
  const merged = (probe: object) =>
    mergeContainer({ name: 'a', livenessProbe: ours }, { livenessProbe: probe }).livenessProbe;
  assert.deepEqual(merged({ periodSeconds: 3 }), { ...ours, periodSeconds: 3 });
  assert.deepEqual(merged({ exec: { command: ['true'] } }), {
    exec: { command: ['true'] },
    periodSeconds: 10,
  });
});

test('tolerations, affinity and DNS searches add to ours (upstream weakness 10)', () => {
  const term = (app: string) => ({
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: { app } },
  });
  const apart = (app: string) => ({
    podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(app)] },
  });
  const pod = mergePodSpec(
    {
      containers: [],
      tolerations: [{ key: 'worker' }],
      affinity: apart('ours'),
      dnsConfig: { searches: ['workers.svc'] },
    },
    {
      tolerations: [{ key: 'theirs' }],
      affinity: apart('theirs'),
      dnsConfig: { searches: ['example.org'] },
    },
  );
  assert.deepEqual(pod.tolerations, [{ key: 'worker' }, { key: 'theirs' }]);
  assert.deepEqual(pod.dnsConfig?.searches, ['workers.svc', 'example.org']);
  assert.deepEqual(pod.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, [
    term('ours'),
    term('theirs'),
  ]);
});
