/** What the schema of built-in types does not say about how they are written; see wire-shape.ts. */

/** Reads a table of `type field field…` lines (a line that starts deeper goes on with the type before). */
function fields(table: string): ReadonlySet<string> {
  const paths = new Set<string>();
  let type = '';
  for (const line of table.split('\n')) {
    const words = line
      .trim()
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) continue;
    if (!line.startsWith('    ')) type = words.shift() ?? '';
    for (const word of words) paths.add(`${type}.${word}`);
  }
  return paths;
}

/** Optional scalars whose zero is a value of its own and is kept. One line per type. */
export const KEEP_ZERO = fields(`
  V1PodSpec activeDeadlineSeconds automountServiceAccountToken enableServiceLinks hostUsers preemptionPolicy
    priority runtimeClassName setHostnameAsFQDN shareProcessNamespace terminationGracePeriodSeconds hostnameOverride
  V1Container restartPolicy
  V1ContainerStatus started stopSignal
  V1EphemeralContainer restartPolicy
  V1SecurityContext allowPrivilegeEscalation privileged procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser
  V1PodSecurityContext fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy
    supplementalGroupsPolicy
  V1SeccompProfile localhostProfile
  V1AppArmorProfile localhostProfile
  V1Probe terminationGracePeriodSeconds
  V1GRPCAction service
  V1Toleration tolerationSeconds
  V1TopologySpreadConstraint minDomains nodeAffinityPolicy nodeTaintsPolicy
  V1PodDNSConfigOption value
  V1VolumeMount mountPropagation recursiveReadOnly
  V1ConfigMapKeySelector optional
  V1SecretKeySelector optional
  V1ConfigMapEnvSource optional
  V1SecretEnvSource optional
  V1ConfigMapVolumeSource defaultMode optional
  V1SecretVolumeSource defaultMode optional
  V1ConfigMapProjection optional
  V1SecretProjection optional
  V1ProjectedVolumeSource defaultMode
  V1DownwardAPIVolumeSource defaultMode
  V1DownwardAPIVolumeFile mode
  V1KeyToPath mode
  V1HostPathVolumeSource type
  V1ServiceAccountTokenProjection expirationSeconds
  V1CSIVolumeSource fsType readOnly
  V1LocalVolumeSource fsType
  V1ClusterTrustBundleProjection name optional signerName
  V1ServiceSpec allocateLoadBalancerNodePorts internalTrafficPolicy ipFamilyPolicy loadBalancerClass trafficDistribution
  V1ServicePort appProtocol targetPort
  V1ClientIPConfig timeoutSeconds
  V1LoadBalancerIngress ipMode
  V1ConfigMap immutable
  V1Secret immutable
  V1ServiceAccount automountServiceAccountToken
  V1PersistentVolumeSpec volumeMode volumeAttributesClassName
  V1PersistentVolumeClaimSpec storageClassName volumeAttributesClassName volumeMode
  V1PersistentVolumeClaimStatus currentVolumeAttributesClassName
  V1TypedLocalObjectReference apiGroup
  V1TypedObjectReference apiGroup namespace
  V1OwnerReference controller blockOwnerDeletion
  V1ObjectMeta deletionGracePeriodSeconds
  V1StatefulSetSpec replicas revisionHistoryLimit
  V1StatefulSetStatus collisionCount
  V1RollingUpdateStatefulSetStrategy maxUnavailable partition
  V1StatefulSetOrdinals start
  V1DeploymentSpec progressDeadlineSeconds replicas revisionHistoryLimit
  V1DeploymentStatus collisionCount terminatingReplicas
  V1RollingUpdateDeployment maxSurge maxUnavailable
  V1ReplicaSetSpec replicas
  V1ReplicaSetStatus terminatingReplicas
  V1DaemonSetSpec revisionHistoryLimit
  V1DaemonSetStatus collisionCount
  V1RollingUpdateDaemonSet maxSurge maxUnavailable
  V1JobSpec activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector
    maxFailedIndexes parallelism podReplacementPolicy suspend ttlSecondsAfterFinished
  V1JobStatus failedIndexes ready terminating
  V1CronJobSpec failedJobsHistoryLimit startingDeadlineSeconds successfulJobsHistoryLimit suspend timeZone
  V1PodDisruptionBudgetSpec maxUnavailable minAvailable unhealthyPodEvictionPolicy
  V1PodDisruptionBudgetStatus currentHealthy desiredHealthy disruptionsAllowed expectedPods
  V1LeaseSpec holderIdentity leaseDurationSeconds leaseTransitions preferredHolder strategy
  V1PriorityClass preemptionPolicy
  V1StorageClass allowVolumeExpansion reclaimPolicy volumeBindingMode
  V1Endpoint hostname nodeName zone
  V1EndpointConditions ready serving terminating
  DiscoveryV1EndpointPort appProtocol name port protocol
  V1EndpointAddress nodeName
  CoreV1EndpointPort appProtocol
  V1IngressSpec ingressClassName
  V1HTTPIngressPath pathType
  V1IngressClassParametersReference apiGroup namespace scope
  V1NetworkPolicyPort endPort port protocol
  V1MutatingWebhook failurePolicy matchPolicy reinvocationPolicy sideEffects timeoutSeconds
  V1ValidatingWebhook failurePolicy matchPolicy sideEffects timeoutSeconds
  AdmissionregistrationV1WebhookClientConfig url
  AdmissionregistrationV1ServiceReference path port
  V1RuleWithOperations scope
  V1NamedRuleWithOperations scope
  V1ValidatingAdmissionPolicySpec failurePolicy
  V1Validation reason
  V1MatchResources matchPolicy
  V1TokenRequestSpec expirationSeconds
  V2HorizontalPodAutoscalerSpec minReplicas
`);

/** Structs that are always there. */
export const ALWAYS = fields(`
  V1Pod spec status
  V1PodTemplate template
  V1Service spec status
  V1Namespace spec status
  V1Node spec status
  V1PersistentVolume spec status
  V1ResourceQuota spec status
  V1LimitRange spec
  V1ReplicationController spec status
  V1StatefulSet spec status
  V1Deployment spec status
  V1ReplicaSet spec status
  V1DaemonSet spec status
  V1Job spec status
  V1CronJob spec status
  V1PodDisruptionBudget spec status
  V1Lease spec
  V1Ingress spec status
  V1IngressClass spec
  V1NetworkPolicy spec
  V1ValidatingAdmissionPolicy spec status
  V1ValidatingAdmissionPolicyBinding spec
  V2HorizontalPodAutoscaler spec status
  CoreV1Event source
  EventsV1Event regarding deprecatedSource
  V1Container resources
  V1EphemeralContainer resources
  V1ContainerStatus state lastState
  V1PodTemplateSpec metadata spec
  V1JobTemplateSpec metadata spec
  V1PersistentVolumeClaim metadata spec status
  V1PersistentVolumeClaimSpec resources
  V1StatefulSetSpec updateStrategy
  V1DeploymentSpec strategy
  V1DaemonSetSpec updateStrategy
  V1ReplicaSetSpec template
  V1ServiceStatus loadBalancer
  V1IngressStatus loadBalancer
  V1Endpoint conditions
  V1NodeStatus daemonEndpoints nodeInfo
  V1NodeDaemonEndpoints kubeletEndpoint
  V1NetworkPolicySpec podSelector
  V1WeightedPodAffinityTerm podAffinityTerm
  V1IngressServiceBackend port
`);

/** Times (and lists) that are null rather than absent. */
export const NULL_WHEN_UNSET = fields(`
  V1PodCondition lastProbeTime lastTransitionTime
  V1NodeCondition lastHeartbeatTime lastTransitionTime
  V1NamespaceCondition lastTransitionTime
  V1PersistentVolumeClaimCondition lastProbeTime lastTransitionTime
  V1StatefulSetCondition lastTransitionTime
  V1DeploymentCondition lastTransitionTime lastUpdateTime
  V1ReplicaSetCondition lastTransitionTime
  V1DaemonSetCondition lastTransitionTime
  V1JobCondition lastProbeTime lastTransitionTime
  V1ContainerStateRunning startedAt
  V1ContainerStateTerminated startedAt finishedAt
  V1ProjectedVolumeSource sources
  V1Role rules
  V1ClusterRole rules
  V1EndpointSlice endpoints ports
  CoreV1Event firstTimestamp lastTimestamp eventTime
  EventsV1Event eventTime deprecatedFirstTimestamp deprecatedLastTimestamp
  V2HorizontalPodAutoscalerStatus currentMetrics
`);

/** Lists that are owned by the manager that sends them empty. */
export const EMPTY_IS_OWNED = fields(`
  V1Role rules
  V1ClusterRole rules
`);

/** Scalars that are written even when they are zero, though the schema does not call them required. */
export const ZERO_WHEN_UNSET = fields(`
  V1StatefulSetSpec serviceName
  V1StatefulSetStatus availableReplicas
  V1PodDisruptionBudgetStatus currentHealthy desiredHealthy disruptionsAllowed expectedPods
  V1PriorityClass value
  CoreV1Event reportingComponent reportingInstance
  V2HorizontalPodAutoscalerStatus desiredReplicas
`);

/** Pointers that the schema calls required: absent stays absent, and validation reports it. */
export const ABSENT_THOUGH_REQUIRED = fields(`
  V1StatefulSetSpec selector
  V1DeploymentSpec selector
  V1ReplicaSetSpec selector
  V1DaemonSetSpec selector
  V1MutatingWebhook sideEffects
  V1ValidatingWebhook sideEffects
  V1HTTPIngressPath pathType
`);
