/** The values of the charts slurm-operator and slurm-operator-crds. */
import {
  anyMap,
  closed,
  flag,
  list,
  mapOf,
  nameOf,
  oneOf,
  portOrText,
  type Schema,
  text,
  whole,
} from './schema.ts';
import {
  budget,
  extraObjects,
  helmsOwn,
  image,
  pullPolicy,
  pullSecrets,
  registry,
  replicas,
} from './shared-values.ts';

const goDuration = { pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$' };
const workers = (kind: string) => whole(`How many ${kind} at a time.`, { minimum: 1, maximum: 1000 });

const program = (name: string): Record<string, Schema> => ({
  enabled: flag(`Whether ${name} runs.`),
  replicas: replicas(name),
  imagePullPolicy: pullPolicy,
  image: image(name),
  serviceAccount: closed('Its service account.', {
    create: flag('Create it, with its roles.'),
    name: nameOf('Its name.'),
  }),
  nodeSelector: mapOf('Labels that a node must have.', text('Value of the label.')),
  affinity: anyMap('Affinity.'),
  tolerations: list('Tolerations.', { items: { type: 'object' } }),
  nodeLossTolerationSeconds: whole(
    'Seconds until a pod is replaced whose node is not ready or unreachable; null for the default of the cluster.',
    { minimum: 0 },
  ),
  topologySpreadConstraints: list('How pods are spread; empty: over nodes, where there are several.', {
    items: { type: 'object' },
  }),
  podSecurityContext: anyMap('Security settings of the pod.'),
  securityContext: anyMap('Security settings of the container.'),
  resources: anyMap('Requests and limits.'),
  pdb: budget,
  logLevel: {
    ...text('Log level: debug, info, warn, error, or a number.', {
      pattern: '^(debug|info|warn|error|panic|[0-9]+)$',
    }),
    type: ['string', 'integer', 'null'],
  },
  healthPort: portOrText('Port of /healthz and /readyz.'),
  metricsPort: portOrText('Port of /metrics; 0 disables it.', 0),
  metricsSecure: flag('Serve metrics over TLS, to authorized clients.'),
  leaderElection: flag('Elect a leader among the replicas.'),
  namespaces: text('Namespaces to watch, a,b,c; empty means all.', {
    pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?( *, *[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$',
  }),
});

const hook = {
  failurePolicy: oneOf('What happens to a request if the webhook does not respond.', ['Fail', 'Ignore']),
  matchConditions: list('Conditions in CEL.', { items: { type: 'object' } }),
  matchPolicy: oneOf('How versions match.', ['Equivalent', 'Exact']),
};

const { leaderElection: _, ...withoutElection } = program('the dashboard');
const header = (what: string) => text(`Header with ${what}.`, { pattern: '^[A-Za-z0-9-]+$' });

export function operatorValues(): Schema {
  return closed('Values of the chart slurm-operator.', {
    ...helmsOwn,
    nameOverride: nameOf('Name of the operator.'),
    fullnameOverride: nameOf('Name of its objects.'),
    namespaceOverride: nameOf('The namespace of the objects.'),
    registry,
    imagePullSecrets: pullSecrets,
    imagePullPolicy: pullPolicy,
    priorityClassName: nameOf('Priority class of the pods.'),
    clusterDomain: text('DNS domain of Services; empty: from /etc/resolv.conf of the operator.', {
      pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$',
    }),
    crds: closed('The custom resources.', { enabled: flag('Install them with this release.') }),
    // Values of the subchart, which has a schema of its own.
    'slurm-operator-crds': anyMap('Values of the chart slurm-operator-crds.'),
    operator: closed('The operator.', {
      ...program('the operator'),
      accountingWorkers: workers('Accountings'),
      controllerWorkers: workers('Controllers'),
      loginsetWorkers: workers('LoginSets'),
      nodesetWorkers: workers('NodeSets'),
      restapiWorkers: workers('RestApis'),
      tokenWorkers: workers('Tokens'),
      slurmclientWorkers: workers('connections to Slurm'),
      slurmRequestTimeout: text('How long one request to Slurm may take.', goDuration),
      slurmBackoffInitial: text('First delay after a failure.', goDuration),
      slurmBackoffMax: text('Longest delay after failures.', goDuration),
      slurmPollPeriod: text('Polling interval of Slurm when idle.', goDuration),
      tokenExchange: closed('Exchange of Kubernetes identities for Slurm tokens.', {
        enabled: flag('Serve it.'),
        port: portOrText('Its port.'),
        userPrefix: text('Beginning of user names that Slurm does not know.'),
        userSuffix: text('End of user names that Slurm does not know.'),
        audiences: list('Audiences that a token must be for; empty: the API server.', {
          items: { type: 'string' },
        }),
      }),
      profile: flag('Serve profiles.'),
      profileAddr: text('Where profiles are served.', { pattern: '^.*:[0-9]+$' }),
    }),
    webhook: closed('The webhook.', {
      ...program('the webhook'),
      podsBinding: flag('Copy the topology of the node to workers before they start.'),
      timeoutSeconds: whole('Timeout of a call by the API server.', { minimum: 1, maximum: 30 }),
      validating: closed('Checks of custom resources.', {
        ...hook,
        namespaceSelector: anyMap('Namespaces to which it applies.'),
      }),
      mutating: closed('The copy of topology.', hook),
      serverPort: portOrText('Port of the webhook.'),
    }),
    dashboard: closed('The web page of the clusters.', {
      ...withoutElection,
      port: portOrText('Port of the page.'),
      hosts: list('Names under which browsers reach it; empty: any.', { items: { type: 'string' } }),
      secureCookies: flag('Browsers come over TLS.'),
      proxy: closed('A proxy that has authenticated the user.', {
        secretName: nameOf('Secret by which it proves itself; empty: no proxy.'),
        secretKey: text('Key in that Secret.'),
        secretHeader: header('the secret'),
        userHeader: header('the name of the user'),
        groupsHeader: header('the groups of the user, separated by commas'),
        actAsUsers: flag('People who come through it may change what their rights allow.'),
      }),
      networkPolicy: closed('Who reaches the page.', {
        enabled: flag('Create the NetworkPolicy.'),
        from: list('Peers, as in `from` of a NetworkPolicy; empty: all.', { items: { type: 'object' } }),
      }),
    }),
    certManager: closed('The certificate from cert-manager.', {
      enabled: flag('Use cert-manager.'),
      secretName: nameOf('Secret with the certificate. Empty: <fullname>-webhook-ca.'),
      duration: text('How long it is valid.', goDuration),
      renewBefore: text('How long before the end it is renewed.', goDuration),
    }),
    propagatedNodeConditions: list(
      'Node conditions: TYPE or TYPE=False explains a cordon; with :DURATION, as in GpuBroken:30s, it drains the Slurm nodes of its Node after that time.',
      {
        items: { type: 'string' },
      },
    ),
    extraObjects,
  });
}

export function crdsValues(): Schema {
  return closed('Values of the chart slurm-operator-crds.', {
    ...helmsOwn,
    enabled: flag('Set by the chart slurm-operator.'),
    keep: flag('Keep the CRDs when the chart is uninstalled.'),
  });
}
