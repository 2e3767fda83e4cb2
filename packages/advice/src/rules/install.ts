/** A: the installation of the operator and what Kubernetes allows it. */
import { group, version } from '@slurm-operator/api';
import { family, rule } from '../finding.ts';
import { count, listed, quote, span } from '../text/text.ts';
import { leaderLostFor, type WithConditions, withReason } from './read.ts';

const kinds = ['accountings', 'clusters', 'controllers', 'loginsets', 'nodesets', 'restapis', 'tokens'];
const oldestKubernetes = 29;

/** Objects of our kinds, whatever their kind. */
const needsObjects = [
  'accountings',
  'clusters',
  'controllers',
  'loginSets',
  'nodeSets',
  'restApis',
  'tokens',
] as const;
type Objects = Readonly<Record<(typeof needsObjects)[number], readonly WithConditions[]>>;
const everyObject = (values: Objects) => needsObjects.flatMap((name) => values[name]);

/** A RoleBinding in the namespace of the cluster does not help with these. */
const outsideNamespace: ReadonlySet<string> = new Set([
  'customresourcedefinitions',
  'deployments',
  'leases',
  'namespaces',
  'nodes',
  'storageclasses',
]);

export const installRules = family('install', [
  rule({
    id: 'A1',
    title: 'CRDs are missing or do not serve the version of this plugin',
    needs: ['definitions'],
    *find({ definitions }) {
      const found = new Map(definitions.map((one) => [one.metadata.name, one]));
      const absent = kinds.filter((kind) => !found.has(`${kind}.${group}`));
      const fix = ['helm upgrade --install slurm-operator-crds charts/slurm-operator-crds'];
      if (absent.length > 0)
        yield {
          subject: { kind: 'CustomResourceDefinition', name: listed(absent) },
          says:
            absent.length === kinds.length
              ? 'The CRDs of slurm-operator are not installed.'
              : `The CRDs of slurm-operator are incomplete: ${listed(absent, 7)} ${absent.length === 1 ? 'is' : 'are'} missing.`,
          fix,
          doc: 'install.md',
        };
      const old = kinds.filter((kind) => {
        const versions = found.get(`${kind}.${group}`)?.spec.versions;
        return versions !== undefined && !versions.some(({ name, served }) => name === version && served);
      });
      if (old.length > 0)
        yield {
          subject: { kind: 'CustomResourceDefinition', name: listed(old) },
          says: `The CRDs of ${listed(old, 7)} do not serve ${version}, the version of this plugin.`,
          fix,
        };
    },
  }),
  rule({
    id: 'A2',
    title: 'The operator is not installed or not available',
    needs: ['operators'],
    *find({ operators }) {
      const [one] = operators;
      if (one === undefined)
        yield {
          subject: { kind: 'Deployment', name: 'slurm-operator' },
          says: 'No Deployment of slurm-operator was found: nothing scales, rolls out or renews. Slurm itself continues.',
          fix: ['helm upgrade --install slurm-operator charts/slurm-operator --namespace slinky'],
          doc: 'install.md',
        };
      for (const each of operators)
        if ((each.status?.availableReplicas ?? 0) === 0 && (each.spec?.replicas ?? 1) > 0)
          yield {
            subject: { kind: 'Deployment', name: each.metadata.name },
            says: `The operator is not available (0 of ${each.spec?.replicas ?? 1} replicas): nothing scales, rolls out or renews. Slurm itself continues.`,
            fix: [
              `kubectl -n ${each.metadata.namespace} describe deployment ${each.metadata.name}`,
              `kubectl -n ${each.metadata.namespace} logs deployment/${each.metadata.name} --tail=50`,
            ],
          };
        else if ((each.spec?.replicas ?? 1) === 0)
          yield {
            subject: { kind: 'Deployment', name: each.metadata.name },
            says: 'The operator is scaled to 0: nothing scales, rolls out or renews. Slurm itself continues.',
            fix: [
              `kubectl -n ${each.metadata.namespace} scale deployment ${each.metadata.name} --replicas=1`,
            ],
          };
    },
  }),
  rule({
    id: 'A3',
    title: 'No operator holds the leader lease',
    needs: ['lease'],
    *find({ lease }, { now }) {
      const lost = leaderLostFor(lease, now);
      if (lease === undefined || lost === undefined) return;
      yield {
        subject: { kind: 'Lease', name: lease.metadata.name },
        says: `No operator has been leading for ${span(lost)}: nothing scales, rolls out or renews. Slurm itself continues.`,
        because: [`the lease was renewed last by ${lease.spec?.holderIdentity || 'no one'}`],
        fix: [`kubectl -n ${lease.metadata.namespace} logs deployment/slurm-operator --tail=50`],
        after: [{ rule: 'A2' }],
      };
    },
  }),
  rule({
    id: 'A4',
    title: 'The API server does not reach the webhook',
    needs: ['webhook'],
    *find({ webhook }) {
      const { accepted, down } = webhook;
      if (accepted && down !== undefined)
        yield {
          severity: 'warning',
          subject: { kind: 'Webhook', name: down.name },
          says: `No pod of the webhook ${down.name} is ready: custom resources are accepted without its checks and warnings.`,
          fix: [`kubectl -n ${down.namespace} describe deployment ${down.name}`],
          doc: 'install.md',
          after: [{ rule: 'A2' }],
        };
      if (accepted || /x509|certificate/i.test(webhook.message)) return;
      if (!/failed calling webhook|connection refused|deadline exceeded|no endpoints/i.test(webhook.message))
        return;
      yield {
        subject: { kind: 'Webhook', name: 'slurm-operator-webhook' },
        says: 'The API server does not reach the webhook: custom resources of Slurm cannot be created or changed.',
        because: [quote(webhook.message)],
        fix: [
          'kubectl get pods -A -l app.kubernetes.io/component=webhook',
          'On a managed cluster, allow the control plane to reach port 9443 of the nodes.',
        ],
        doc: 'install.md',
        after: [{ rule: 'A2' }],
      };
    },
  }),
  rule({
    id: 'A5',
    title: 'The API server does not trust the certificate of the webhook',
    needs: ['webhook'],
    *find({ webhook }) {
      if (webhook.accepted || !/x509|certificate/i.test(webhook.message)) return;
      yield {
        subject: { kind: 'Webhook', name: 'slurm-operator-webhook' },
        says: 'The API server does not trust the certificate of the webhook: custom resources of Slurm cannot be created or changed.',
        because: [quote(webhook.message)],
        fix: ['Restart the webhook: it creates a new certificate and registers it.'],
      };
    },
  }),
  rule({
    id: 'A6',
    title: 'Pod Security of the namespace refuses pods',
    needs: [...needsObjects, 'namespace'],
    *find(values, { namespace }) {
      const enforced = values.namespace.metadata.labels?.['pod-security.kubernetes.io/enforce'];
      for (const object of everyObject(values)) {
        const found = withReason(object, ['PodSecurityViolation']);
        if (found === undefined) continue;
        yield {
          subject: { kind: object.kind, name: object.metadata.name },
          says: `The namespace ${namespace} refuses the pods of ${object.kind} ${object.metadata.name}: its Pod Security level is ${enforced ?? 'set by the cluster'}.`,
          because: [quote(found.message)],
          fix: [
            `kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged --overwrite`,
          ],
          doc: 'security.md#pod-security-of-slurms-namespace',
        };
      }
    },
  }),
  rule({
    id: 'A7',
    title: 'A ResourceQuota refuses objects',
    needs: needsObjects,
    *find(values, { namespace }) {
      for (const object of everyObject(values)) {
        const found = withReason(object, ['QuotaExceeded']);
        if (found !== undefined)
          yield {
            subject: { kind: object.kind, name: object.metadata.name },
            says: `A quota of the namespace is full: ${quote(found.message)}`,
            fix: [`kubectl -n ${namespace} describe resourcequota`],
          };
      }
    },
  }),
  rule({
    id: 'A8',
    title: 'You lack a permission that the diagnosis uses',
    severity: 'info',
    needs: ['permissions'],
    *find({ permissions }, { namespace }) {
      const denied = permissions.filter(({ allowed }) => !allowed);
      if (denied.length === 0) return;
      yield {
        subject: { kind: 'Permission', name: 'you' },
        says: `You may not ${listed(
          denied.map(({ verb, resource }) => `${verb} ${resource}`),
          4,
        )} in ${namespace}: findings that need ${denied.length === 1 ? 'it' : 'them'} are missing.`,
        fix: [
          'Ask an administrator to bind the ClusterRole slurm-viewer to you:',
          denied.some(({ resource }) => outsideNamespace.has(resource))
            ? 'kubectl create clusterrolebinding slurm-viewers --clusterrole slurm-viewer --user NAME'
            : `kubectl -n ${namespace} create rolebinding slurm-viewers --clusterrole slurm-viewer --user NAME`,
        ],
      };
    },
  }),
  rule({
    id: 'A9',
    title: 'Kubernetes is older than the operator supports',
    severity: 'warning',
    needs: ['kubernetesVersion'],
    *find({ kubernetesVersion }) {
      const minor = Number(/^v?1\.(\d+)/.exec(kubernetesVersion)?.[1]);
      if (Number.isNaN(minor) || minor >= oldestKubernetes) return;
      yield {
        subject: { kind: 'Kubernetes', name: kubernetesVersion },
        says: `Kubernetes ${kubernetesVersion} is older than 1.${oldestKubernetes}, the oldest version that the operator supports.`,
        fix: ['Upgrade Kubernetes.'],
      };
    },
  }),
  rule({
    id: 'A10',
    title: 'Two operators manage the same cluster',
    severity: 'warning',
    needs: ['operators'],
    *find({ operators }) {
      if (operators.length < 2) return;
      const places = operators.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      yield {
        subject: { kind: 'Deployment', name: places.join(', ') },
        says: `${count(operators.length, 'Deployment')} of slurm-operator run (${listed(places)}): unless each has its own --namespaces, they undo each other's work.`,
        fix: ['Remove one, or give each its own namespaces: helm upgrade … --set "namespaces={…}"'],
      };
    },
  }),
  rule({
    id: 'A11',
    title: 'The operator lacks a permission',
    needs: needsObjects,
    *find(values) {
      for (const object of everyObject(values)) {
        const found = withReason(object, ['AccessDenied']);
        if (found !== undefined)
          yield {
            subject: { kind: object.kind, name: object.metadata.name },
            says: `The operator lacks a permission: ${quote(found.message)}`,
            fix: ['helm upgrade slurm-operator charts/slurm-operator (it brings the roles)'],
          };
      }
    },
  }),
  rule({
    id: 'A12',
    title: 'The namespace is being deleted',
    needs: needsObjects,
    *find(values, { namespace }) {
      const found = everyObject(values).find(
        (object) => withReason(object, ['NamespaceTerminating']) !== undefined,
      );
      if (found !== undefined)
        yield {
          subject: { kind: 'Namespace', name: namespace },
          says: `The namespace ${namespace} is being deleted, so nothing can be created in it.`,
          fix: [`kubectl get namespace ${namespace} -o jsonpath='{.status.conditions}'`],
        };
    },
  }),
]);
