import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding, SpecFacts } from './findings.ts';
import { specRules } from './spec-rules.ts';

const factsWith = (over: Partial<SpecFacts> = {}): SpecFacts => ({
  configMapKeys: () => undefined,
  claimModes: () => undefined,
  hasController: () => true,
  nodeSets: () => [],
  ...over,
});
const keys = (...names: string[]) => factsWith({ configMapKeys: () => names });
const modes = (...names: string[]) => factsWith({ claimModes: () => names });
const twin = (over: object = {}) =>
  factsWith({ nodeSets: () => [{ name: 'other', controller: 'slurm', prefix: 'compute-', ...over }] });
const outside = { service: { spec: { externalIPs: ['192.0.2.1'] } } };
const standby = { ha: { enabled: true }, persistence: { existingClaim: 'state' } };
const ref = { controllerRef: { name: 'slurm' } };

const cases: readonly {
  readonly reason: string;
  readonly kind: keyof typeof specRules;
  readonly spec: object;
  readonly facts?: SpecFacts;
  readonly error?: RegExp;
  readonly warning?: RegExp;
}[] = [
  { reason: 'nothing is asked for', kind: 'Controller', spec: {} },
  {
    reason: 'a ConfigMap that is not there',
    kind: 'Controller',
    spec: { configFileRefs: [{ name: 'files' }] },
    error: /spec\.configFileRefs\[0\]: ConfigMap "files" does not exist/,
  },
  ...(['slurm.conf', 'slurmdbd.conf'] as const).map((key) => ({
    reason: `a ConfigMap with ${key}`,
    kind: 'Controller' as const,
    spec: { configFileRefs: [{ name: 'files' }] },
    facts: keys('gres.conf', key),
    error: new RegExp(`key "${key}" of ConfigMap "files" is reserved`),
  })),
  {
    reason: 'a file that Slurm does not know',
    kind: 'Controller',
    spec: { configFileRefs: [{ name: 'a' }, { name: 'b' }] },
    facts: keys('gress.conf'),
    warning: /spec\.configFileRefs\[1\]: Slurm is not known to read "gress\.conf"/,
  },
  {
    reason: 'a file that it knows',
    kind: 'Controller',
    spec: { configFileRefs: [{ name: 'a' }] },
    facts: keys('gres.conf', 'topology.yaml', 'cgroup.conf'),
  },
  {
    reason: 'standbys on a claim that only one may write',
    kind: 'Controller',
    spec: standby,
    facts: modes('ReadWriteOnce'),
    error: /claim "state" has the access modes ReadWriteOnce; spec\.ha\.enabled needs ReadWriteMany/,
  },
  {
    reason: 'standbys on a claim for all',
    kind: 'Controller',
    spec: standby,
    facts: modes('ReadWriteMany'),
  },
  { reason: 'standbys on a claim that is to come', kind: 'Controller', spec: standby },
  {
    reason: 'one slurmctld on a claim of its own',
    kind: 'Controller',
    spec: { ...standby, ha: { enabled: false } },
    facts: modes('ReadWriteOnce'),
  },
  ...(['Controller', 'Accounting', 'LoginSet', 'RestApi'] as const).map((kind) => ({
    reason: `a ${kind} that claims an address of others`,
    kind,
    spec: { ...ref, ...outside },
    warning: /externalIPs is ignored/,
  })),
  ...(['LoginSet', 'NodeSet', 'RestApi'] as const).map((kind) => ({
    reason: `a ${kind} before its Controller`,
    kind,
    spec: ref,
    facts: factsWith({ hasController: () => false }),
    warning: /spec\.controllerRef\.name is "slurm"; no such Controller exists in namespace hpc/,
  })),
  ...(['LoginSet', 'NodeSet', 'RestApi'] as const).map((kind) => ({
    reason: `a ${kind} of a Controller`,
    kind,
    spec: ref,
  })),
  {
    reason: 'workers that are called like those of another set',
    kind: 'NodeSet',
    spec: ref,
    facts: twin(),
    error: /the Slurm nodes of NodeSet "other" also begin with "compute-"/,
  },
  {
    reason: 'the same by a hostname',
    kind: 'NodeSet',
    spec: { ...ref, template: { spec: { hostname: 'x-' } } },
    facts: twin({ prefix: 'x-' }),
    error: /also begin with "x-"/,
  },
  { reason: 'the same in another Slurm', kind: 'NodeSet', spec: ref, facts: twin({ controller: 'theirs' }) },
  { reason: 'the set itself', kind: 'NodeSet', spec: ref, facts: twin({ name: 'compute' }) },
  {
    reason: 'one worker per machine, called after the machine',
    kind: 'NodeSet',
    spec: { ...ref, scalingMode: 'DaemonSet' },
    facts: twin(),
  },
  {
    reason: 'one worker per machine beside another such set',
    kind: 'NodeSet',
    spec: { ...ref, scalingMode: 'DaemonSet' },
    facts: twin({ prefix: '' }),
    warning: /NodeSet "other" is also in DaemonSet mode.*nodeSelector/,
  },
  {
    reason: 'a prefix that is another one with digits behind it',
    kind: 'NodeSet',
    spec: { ...ref, template: { spec: { hostname: 'gpu-1' } } },
    facts: twin({ prefix: 'gpu-' }),
    warning: /"gpu-1" and "gpu-" of NodeSet "other" give the same names/,
  },
  {
    reason: 'a prefix that only begins like another one',
    kind: 'NodeSet',
    spec: { ...ref, template: { spec: { hostname: 'gpu-1-' } } },
    facts: twin({ prefix: 'gpu-' }),
  },
  {
    reason: 'an autoscaled set on the network of its nodes',
    kind: 'NodeSet',
    spec: { ...ref, autoscale: { max: 4 }, template: { spec: { hostNetwork: true } } },
    error:
      /spec\.autoscale: with spec\.template\.spec\.hostNetwork a worker is named after its Kubernetes node/,
  },
  {
    reason: 'a number of workers beside autoscaling',
    kind: 'NodeSet',
    spec: { ...ref, replicas: 3, autoscale: { max: 4 } },
    warning: /spec\.replicas: 3 is ignored while spec\.autoscale is set/,
  },
  { reason: 'an autoscaled set', kind: 'NodeSet', spec: { ...ref, replicas: 1, autoscale: { max: 4 } } },
  { reason: 'whatever a Token says', kind: 'Token', spec: {} },
];

for (const { reason, kind, spec, facts: place = factsWith(), error, warning } of cases)
  test(`${kind}: ${reason} ${error === undefined ? (warning === undefined ? 'passes' : 'is warned of') : 'is refused'}`, () => {
    const check = specRules[kind] as (object: unknown, facts: SpecFacts) => readonly Finding[];
    const found = check({ metadata: { name: 'compute', namespace: 'hpc' }, spec }, place);
    const said = (isError: boolean) =>
      found.filter(({ severity }) => (severity === 'error') === isError).map(({ message }) => message);
    if (error === undefined) assert.deepEqual(said(true), []);
    else assert.match(said(true).join('; '), error);
    if (warning === undefined) assert.deepEqual(said(false), []);
    else assert.match(said(false).join('; '), warning);
  });
