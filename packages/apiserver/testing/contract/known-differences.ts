/**
 * Recorded cases that the embedded server does not answer as a real one does, each with its weight and reason. The report
 * prints them; a case that passes again must leave the list.
 */

export interface KnownDifference {
  /** A: misleads an operator or its tests. B: a user of kubectl or helm sees it. C: a text, or a rare request. */
  readonly weight: 'A' | 'B' | 'C';
  readonly reason: string;
}

export const knownDifferences: Readonly<Record<string, KnownDifference>> = {
  'builtins/29-pod-resize': { weight: 'B', reason: '501 (declared): pods/resize' },
  'builtins/31-pod-level-resources': {
    weight: 'A',
    reason: 'pod-level resources: no defaults, no checks, wrong QoS class',
  },
  'builtins/32-pod-everything': {
    weight: 'B',
    reason: 'the empty metadata of an ephemeral claim template is missing',
  },
  'builtins/33-pod-invalid-containers': {
    weight: 'A',
    reason: 'faults of subPath, fieldRef, probes, init containers and resource names are not found',
  },
  'builtins/34-scheduling-gates': {
    weight: 'A',
    reason:
      'scheduling gates cannot be removed, gated pods get no condition, nodeSelector cannot be narrowed',
  },
  'builtins/35-statefulset-validation': {
    weight: 'A',
    reason: 'StatefulSets with a bad partition, retention policy or claim template are taken; other texts',
  },
  'builtins/38-service-validation': {
    weight: 'A',
    reason:
      'eight of sixteen Service faults are taken or told otherwise (node port on ClusterIP, families, dual stack, traffic policies)',
  },
  'builtins/39-persistent-volume': {
    weight: 'B',
    reason: 'PersistentVolumes: source may change, none needed, no lastPhaseTransitionTime',
  },
  'builtins/41-secret-types': { weight: 'B', reason: 'a dockerconfigjson that is no JSON is taken' },
  'builtins/43-autoscaler': {
    weight: 'B',
    reason: 'HorizontalPodAutoscaler: no defaults, no checks, no autoscaling/v1',
  },
  'builtins/45-events-core': { weight: 'C', reason: 'the note of an Event may change' },
  'builtins/47-namespace-finalize': {
    weight: 'C',
    reason: 'a bad finalizer in the spec of a namespace is taken',
  },
  'builtins/50-pod-status-rules': {
    weight: 'B',
    reason: 'pod status: qosClass may change, terminated containers may run again, nameless conditions',
  },
  'builtins/52-daemonset-and-replicaset': {
    weight: 'B',
    reason: 'DaemonSet with maxSurge and maxUnavailable; order of faults',
  },
  'crud/53-status-by-main-path': {
    weight: 'A',
    reason:
      'labels and annotations are written through deployments/status; impossible replica counts are taken',
  },
  'list-watch/29-field-selectors-other-kinds': {
    weight: 'B',
    reason:
      'field selectors: events by regarding, jobs by status.successful refused; replicasets by status.replicas taken',
  },
  'list-watch/30-custom-pages': {
    weight: 'C',
    reason: 'limit with resourceVersion=0 is kept; a cluster ignores it',
  },
  'list-watch/34-table-workloads': { weight: 'B', reason: 'kubectl get jobs, cronjobs: columns' },
  'list-watch/35-table-services-and-policies': {
    weight: 'B',
    reason: 'kubectl get netpol, ingress, hpa: columns',
  },
  'list-watch/37-table-options': {
    weight: 'B',
    reason: 'a printer column of a list shows all entries, a cluster the first',
  },
  'list-watch/38-table-pod-states': { weight: 'B', reason: 'kubectl get pods: SchedulingGated is not shown' },
  'list-watch/42-table-config': { weight: 'B', reason: 'kubectl get events: columns' },
  'patch/23-strategic-pod-lists': {
    weight: 'B',
    reason: 'no warnings about what a pod template says (spread without selector)',
  },
  'discovery/10-apiservices': {
    weight: 'B',
    reason: '501 by name: neither the product nor its charts, kubectl or helm ask for APIServices',
  },
  'discovery/14-openid-and-others': {
    weight: 'B',
    reason: '501 by name: OpenID documents of the issuer, which only other clusters and clouds read',
  },
};
