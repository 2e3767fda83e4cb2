import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '@slurm-operator/kube/testing';
import fc from 'fast-check';
import type { Container, DataObject } from '../../objects/objects.ts';
import { AgentError } from '../errors.ts';
import { capabilitiesOf, containerCapabilities } from './capabilities.ts';
import { buildEnvironment, expand, resourceValue } from './environment.ts';
import { buildOciSpec, commandOf } from './oci-spec.ts';
import { resolveUser } from './user.ts';

const pod = (spec: object = {}) =>
  aPod({
    metadata: { labels: { app: 'x' } },
    spec: { containers: [], serviceAccountName: 'sa', nodeName: 'n', ...spec },
    status: { podIP: '10.0.0.9', hostIP: '10.0.0.1' },
  });
const container = (fields: object = {}) => ({ name: 'c', ...fields }) as unknown as Container;
const everything = capabilitiesOf('1ffffffffff');
const accounts = {
  passwd: 'root:x:0:0::/root:/bin/sh\nslurm:x:401:402::/var/lib/slurm:/bin/sh\n',
  group: 'root:x:0:\nslurm:x:402:\nextra:x:500:slurm\n',
};

const spec = (fields: object = {}, podSpec: object = {}, more: object = {}) =>
  buildOciSpec({
    pod: pod(podSpec),
    container: container(fields),
    image: { entrypoint: ['/entry'], command: ['default'], env: {}, workingDirectory: '/work' },
    rootfs: '/rootfs',
    environment: new Map([['A', '1']]),
    user: { uid: 0, gid: 0, additionalGids: [], home: '/root' },
    mounts: [],
    sandboxPid: 42,
    cgroupsPath: '/x',
    cgroupVersion: 1,
    capabilities: everything,
    ...more,
  }) as {
    process: {
      args: string[];
      env: string[];
      cwd: string;
      capabilities: { effective: string[]; bounding: string[] };
      noNewPrivileges: boolean;
      oomScoreAdj?: number;
      rlimits?: unknown;
    };
    root: { readonly: boolean };
    mounts: { destination: string; options: string[] }[];
    linux: {
      namespaces: { type: string; path?: string }[];
      resources: { memory?: { limit: number; swap?: number }; cpu: { shares: number; quota?: number } };
      maskedPaths?: string[];
    };
  };

test('commands and arguments override those of the image as documented', () => {
  const image = { entrypoint: ['/entry'], command: ['default'] };
  const of = (fields: object) => commandOf(container(fields), image, new Map([['X', 'y']]));
  assert.deepEqual(of({}), ['/entry', 'default']);
  assert.deepEqual(of({ args: ['$(X)'] }), ['/entry', 'y']);
  assert.deepEqual(of({ command: ['/own'] }), ['/own']);
  assert.deepEqual(of({ command: ['/own'], args: ['a'] }), ['/own', 'a']);
});

test('references in values: known ones are replaced, unknown ones stay, doubled dollars escape', () => {
  const known = new Map([['A', 'one']]);
  assert.equal(expand('$(A) $(B) $$(A) $A', known), 'one $(B) $(A) $A');
  fc.assert(
    fc.property(fc.string(), (text) => expand(text.replaceAll('$', ''), known) === text.replaceAll('$', '')),
  );
});

test('a container gets no more privilege than it asks for, and never what the machine lacks', () => {
  const caps = (capabilities: object, available = everything, more: object = {}) =>
    containerCapabilities(container({ securityContext: { capabilities, ...more } }), available);
  assert.equal(caps({}).length, 14);
  assert.deepEqual(caps({ drop: ['ALL'], add: ['SETUID', 'SETGID', 'CHOWN', 'KILL'] }), [
    'CAP_CHOWN',
    'CAP_KILL',
    'CAP_SETGID',
    'CAP_SETUID',
  ]);
  assert.deepEqual(
    caps(
      { drop: ['ALL'], add: ['SYS_RESOURCE'] },
      everything.filter((name) => name !== 'SYS_RESOURCE'),
    ),
    [],
  );
  assert.equal(caps({}, everything, { privileged: true }).length, 41);
  assert.deepEqual(
    spec({ securityContext: { capabilities: { drop: ['ALL'] } } }).process.capabilities.effective,
    [],
  );
  const ordinary = spec({}, {}, { user: { uid: 1000, gid: 0, additionalGids: [], home: '/' } });
  assert.deepEqual(ordinary.process.capabilities.effective, [], 'an ordinary user holds none');
  assert.equal(ordinary.process.capabilities.bounding.length, 14);
});

test('limits become control groups; nothing is set that root without CAP_SYS_RESOURCE may not', () => {
  const limited = spec({ resources: { limits: { memory: '64Mi', cpu: '500m' }, requests: { cpu: '250m' } } });
  assert.equal(limited.linux.resources.memory?.limit, 64 * 2 ** 20);
  assert.equal(limited.linux.resources.memory?.swap, undefined, 'cgroup v1 may not count swap');
  const second = spec({ resources: { limits: { memory: '64Mi' } } }, {}, { cgroupVersion: 2 });
  assert.equal(second.linux.resources.memory?.swap, 64 * 2 ** 20, 'no swap beyond the limit');
  assert.ok(second.linux.namespaces.some(({ type }) => type === 'cgroup'));
  assert.ok(!limited.linux.namespaces.some(({ type }) => type === 'cgroup'));
  assert.deepEqual(limited.linux.resources.cpu, { shares: 256, period: 100_000, quota: 50_000 });
  assert.equal(spec().linux.resources.memory, undefined);
  assert.equal(limited.process.oomScoreAdj, undefined);
  assert.equal(limited.process.rlimits, undefined);
});

test("namespaces are the pod's, the node's or the container's own, as the pod says", () => {
  const types = (podSpec: object) =>
    spec({}, podSpec).linux.namespaces.map(({ type, path }) => `${type}${path === undefined ? '' : '*'}`);
  assert.deepEqual(types({}), ['mount', 'pid', 'network*', 'ipc*', 'uts*']);
  assert.deepEqual(types({ hostNetwork: true, hostPID: true }), ['mount', 'ipc*', 'uts*']);
  assert.deepEqual(types({ shareProcessNamespace: true }), ['mount', 'pid*', 'network*', 'ipc*', 'uts*']);
});

test('a read-only root, no new privileges and a private container say so', () => {
  const tight = spec({ securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false } });
  assert.equal(tight.root.readonly, true);
  assert.equal(tight.process.noNewPrivileges, true);
  assert.ok((tight.linux.maskedPaths ?? []).includes('/proc/kcore'));
  assert.equal(spec({ securityContext: { privileged: true } }).linux.maskedPaths, undefined);
});

test('who a container runs as: the context, then the image, looked up in the image', () => {
  const user = (context: object, imageUser: string, podContext: object = {}) => {
    const { uid, gid, additionalGids } = resolveUser(
      pod({ securityContext: podContext }),
      container({ securityContext: context }),
      imageUser,
      accounts,
    );
    return [uid, gid, additionalGids];
  };
  assert.deepEqual(user({}, ''), [0, 0, []]);
  assert.deepEqual(user({}, 'slurm'), [401, 402, [500]]);
  assert.deepEqual(user({}, '402:402'), [402, 402, []]);
  assert.deepEqual(user({ runAsUser: 401 }, 'root'), [401, 402, [500]]);
  assert.deepEqual(user({ runAsUser: 7 }, '', { fsGroup: 9, supplementalGroups: [8] }), [7, 0, [8, 9]]);
  const nonRoot = { runAsNonRoot: true };
  assert.throws(() => user(nonRoot, ''), /runAsNonRoot and image will run as root/);
  assert.throws(() => user(nonRoot, 'slurm'), /non-numeric user \(slurm\), cannot verify user is non-root/);
  assert.throws(() => user({ ...nonRoot, runAsUser: 0 }, 'slurm'), /runAsUser breaks non-root policy/);
  assert.deepEqual(user({ ...nonRoot, runAsUser: 401 }, 'slurm'), [401, 402, [500]]);
  assert.deepEqual(user(nonRoot, '402'), [402, 0, []]);
  assert.throws(() => user({}, 'missing-user'), /unable to find user missing-user/);
});

test('the environment: later wins, references are resolved, what is missing is named', () => {
  const data = (name: string, content: Record<string, string>) =>
    ({ metadata: { name }, data: content }) as unknown as DataObject;
  const build = (fields: object) =>
    buildEnvironment({
      pod: pod(),
      container: container(fields),
      imageEnv: { PATH: '/bin', A: 'image' },
      configMap: (name) => (name === 'cm' ? data('cm', { K: 'from map' }) : undefined),
      secret: (name) =>
        name === 's' ? data('s', { T: Buffer.from('secret').toString('base64') }) : undefined,
      services: new Map([['WEB_SERVICE_HOST', '10.0.0.5']]),
      nodeAllocatable: { cpu: '4', memory: '8Gi' },
    });
  const made = build({
    envFrom: [{ configMapRef: { name: 'cm' }, prefix: 'P_' }],
    env: [
      { name: 'A', value: 'own' },
      { name: 'B', value: '$(A)-$(WEB_SERVICE_HOST)' },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      { name: 'L', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
      { name: 'T', valueFrom: { secretKeyRef: { name: 's', key: 'T' } } },
      { name: 'O', valueFrom: { configMapKeyRef: { name: 'gone', key: 'x', optional: true } } },
    ],
  });
  assert.deepEqual(
    ['PATH', 'A', 'B', 'P_K', 'IP', 'L', 'T', 'O'].map((key) => made.get(key)),
    ['/bin', 'own', 'own-10.0.0.5', 'from map', '10.0.0.9', 'x', 'secret', undefined],
  );
  assert.throws(
    () => build({ env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'gone', key: 'k' } } }] }),
    new AgentError('CreateContainerConfigError', 'configmap "gone" not found'),
  );
  assert.throws(
    () => build({ env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
    /couldn't find key k in Secret ns\/s/,
  );
});

test('resource references round up in the divisor, and fall back to the node', () => {
  const limited = container({ resources: { limits: { cpu: '1500m', memory: '100Mi' } } });
  const node = { cpu: '4', memory: '8Gi' };
  assert.equal(resourceValue(limited, { resource: 'limits.cpu' }, node), '2');
  assert.equal(resourceValue(limited, { resource: 'limits.cpu', divisor: '1m' }, node), '1500');
  assert.equal(resourceValue(limited, { resource: 'limits.memory', divisor: '1Mi' }, node), '100');
  assert.equal(resourceValue(container(), { resource: 'limits.memory', divisor: '1Gi' }, node), '8');
});
