/** Law L14: metadata of a custom resource never restarts a daemon. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  aController,
  aLoginSet,
  aNodeSet,
  anAccounting,
  aRestApi,
  operatorDefaults,
} from '../../testing/objects.ts';
import { buildAccountingStatefulSet } from '../kinds/accounting/objects/accounting.ts';
import { buildControllerStatefulSet } from '../kinds/controller/objects/stateful-set.ts';
import { buildLoginDeployment } from '../kinds/loginset/objects/login.ts';
import { revisionHash } from '../kinds/nodeset/objects/revision.ts';
import { workerPod } from '../kinds/nodeset/objects/worker-pod.ts';
import { workerTemplate } from '../kinds/nodeset/objects/worker-template.ts';
import { buildRestApiDeployment } from '../kinds/restapi/objects/restapi.ts';
import { buildTrialPod } from '../slurm-config/trial/config-check.ts';

interface Metadata {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
}

const defaults = operatorDefaults;
const worker = { clusterDomain: defaults.clusterDomain, defaultImage: 'slurmd:1' };

/** Every builder of something that has pods: what its pods are made of, and the object that owns them. */
const builders: Record<string, (identity: Metadata, spec: object) => { pods: unknown; own?: Metadata }> = {
  Controller: (identity, spec) => {
    const set = buildControllerStatefulSet({
      controller: aController(spec, identity),
      defaults,
      hashes: { slurmKey: 'a', jwtKey: 'b', restart: 'c' },
    });
    return { pods: set.spec?.template, own: set.metadata };
  },
  'Controller, trial of a configuration': (identity, spec) => ({
    pods: buildTrialPod({ controller: aController(spec, identity), defaults, digest: 'digest' }),
  }),
  Accounting: (identity, spec) => {
    const set = buildAccountingStatefulSet({
      accounting: anAccounting(spec, identity),
      defaults,
      hashes: { slurmKey: 'a', jwtKey: 'b', slurmdbdConf: 'c' },
    });
    return { pods: set.spec?.template, own: set.metadata };
  },
  LoginSet: (identity, spec) => {
    const deployment = buildLoginDeployment({
      loginSet: aLoginSet(spec, identity),
      controller: aController({}, identity),
      defaults,
      hashes: { slurmKey: 'a', sssdConf: 'b', hostKeys: 'c' },
    });
    return { pods: deployment.spec?.template, own: deployment.metadata };
  },
  RestApi: (identity, spec) => {
    const deployment = buildRestApiDeployment({
      restApi: aRestApi(spec, identity),
      controller: aController({}, identity),
      defaults,
    });
    return { pods: deployment.spec?.template, own: deployment.metadata };
  },
  NodeSet: (identity, spec) => {
    const nodeSet = aNodeSet(spec, identity);
    const template = workerTemplate(nodeSet, aController({}, identity), worker);
    const revision = revisionHash(nodeSet);
    const slot = { mode: 'StatefulSet', ordinal: 0 } as const;
    const who = { slot, hostname: 'compute-0', revision, hashes: {}, pinnedTo: undefined };
    return { pods: { revision, pod: workerPod(nodeSet, template, who) } };
  },
};

const text = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/);
const key = fc.oneof(
  text,
  fc.constantFrom('argocd.argoproj.io/instance', 'app.kubernetes.io/version', 'velero.io/backup', 'team'),
);
const pairs = fc.dictionary(key, text, { maxKeys: 4 });
const metadata = fc.record({ labels: pairs, annotations: pairs });

for (const [kind, build] of Object.entries(builders))
  test(`L14: labels and annotations of the custom resource leave its pods as they are: ${kind}`, () => {
    fc.assert(
      fc.property(metadata, metadata, (identity, template) => {
        const spec = { template: { metadata: template } };
        assert.deepEqual(build(identity, spec).pods, build({}, spec).pods);
      }),
    );
  });

const given = { labels: { team: 'hpc' }, annotations: { note: 'x' } };

for (const [kind, build] of Object.entries(builders).filter(([name]) => !name.includes('trial')))
  test(`labels and annotations of spec.template.metadata reach the pods: ${kind}`, () => {
    const pods = JSON.stringify(build({}, { template: { metadata: given } }).pods);
    assert.match(pods, /"team":"hpc"/);
    assert.match(pods, /"note":"x"/);
  });

for (const kind of ['Controller', 'Accounting', 'LoginSet', 'RestApi'])
  test(`labels and annotations of the custom resource reach the object that holds its pods: ${kind}`, () => {
    const own = builders[kind]?.(given, {}).own;
    assert.equal(own?.labels?.['team'], 'hpc');
    assert.equal(own?.annotations?.['note'], 'x');
  });
