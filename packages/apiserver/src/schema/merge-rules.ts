/**
 * How lists and maps of built-in types merge. Our own table: the model metadata the types come from does not say.
 *
 * Lists that are not named here are atomic; maps that are not named here are granular.
 * One line per field: `type.field: [list type, map keys…] / patch strategy, merge key`.
 */

/** Lists of type map (their keys) or set, and the merge key of a strategic merge patch where it has one. */
export const listRules: Readonly<Record<string, string>> = {
  'V1ObjectMeta.finalizers': 'set / merge',
  'V1ObjectMeta.ownerReferences': 'map uid / merge uid',

  'V1PodSpec.volumes': 'map name / merge,retainKeys name',
  'V1PodSpec.initContainers': 'map name / merge name',
  'V1PodSpec.containers': 'map name / merge name',
  'V1PodSpec.ephemeralContainers': 'map name / merge name',
  'V1PodSpec.imagePullSecrets': 'map name / merge name',
  'V1PodSpec.hostAliases': 'map ip / merge ip',
  'V1PodSpec.topologySpreadConstraints': 'map topologyKey whenUnsatisfiable / merge topologyKey',
  'V1PodSpec.schedulingGates': 'map name / merge name',
  'V1PodSpec.resourceClaims': 'map name / merge,retainKeys name',
  'V1Container.ports': 'map containerPort protocol / merge containerPort',
  'V1Container.env': 'map name / merge name',
  'V1Container.volumeMounts': 'map mountPath / merge mountPath',
  'V1Container.volumeDevices': 'map devicePath / merge devicePath',
  'V1EphemeralContainer.ports': 'map containerPort protocol / merge containerPort',
  'V1EphemeralContainer.env': 'map name / merge name',
  'V1EphemeralContainer.volumeMounts': 'map mountPath / merge mountPath',
  'V1EphemeralContainer.volumeDevices': 'map devicePath / merge devicePath',
  'V1ResourceRequirements.claims': 'map name',
  'V1PodStatus.conditions': 'map type / merge type',
  'V1PodStatus.podIPs': 'map ip / merge ip',
  'V1PodStatus.hostIPs': 'atomic / merge ip',
  'V1PodStatus.resourceClaimStatuses': 'map name / merge,retainKeys name',
  'V1ContainerStatus.volumeMounts': 'map mountPath / merge mountPath',
  'V1ContainerStatus.allocatedResourcesStatus': 'map name / merge name',

  'V1ServiceSpec.ports': 'map port protocol / merge port',
  'V1ServiceStatus.conditions': 'map type / merge type',
  'V1ServiceAccount.secrets': 'map name / merge name',
  'V1NodeSpec.podCIDRs': 'set / merge',
  'V1NodeStatus.conditions': 'map type / merge type',
  'V1NodeStatus.addresses': 'map type / merge type',
  'V1NamespaceStatus.conditions': 'map type / merge type',
  'V1PersistentVolumeClaimStatus.conditions': 'map type / merge type',
  'V1ReplicationControllerStatus.conditions': 'map type / merge type',

  'V1StatefulSetStatus.conditions': 'map type / merge type',
  'V1DeploymentStatus.conditions': 'map type / merge type',
  'V1ReplicaSetStatus.conditions': 'map type / merge type',
  'V1DaemonSetStatus.conditions': 'map type / merge type',
  'V1JobStatus.conditions': 'atomic / merge type',
  'V1PodFailurePolicyOnExitCodesRequirement.values': 'set',
  'V1PodDisruptionBudgetStatus.conditions': 'map type / merge type',
  'V1Endpoint.addresses': 'set',
  'V2HorizontalPodAutoscalerStatus.conditions': 'map type / merge type',

  'V1MutatingWebhookConfiguration.webhooks': 'map name / merge name',
  'V1ValidatingWebhookConfiguration.webhooks': 'map name / merge name',
  'V1MutatingWebhook.matchConditions': 'map name / merge name',
  'V1ValidatingWebhook.matchConditions': 'map name / merge name',
  'V1ValidatingAdmissionPolicySpec.matchConditions': 'map name / merge name',
  'V1ValidatingAdmissionPolicySpec.variables': 'map name / merge name',
  'V1ValidatingAdmissionPolicyStatus.conditions': 'map type',
  'V1ValidatingAdmissionPolicyBindingSpec.validationActions': 'set',
  'V1CustomResourceDefinitionStatus.conditions': 'map type',
};

/** Strategic merge of fields that are not lists. */
export const patchStrategies: Readonly<Record<string, string>> = {
  'V1DeploymentSpec.strategy': 'retainKeys',
  'V1PodDisruptionBudgetSpec.selector': 'replace',
};

/** Types that are owned whole, and maps that are. */
export const atomicTypes: ReadonlySet<string> = new Set([
  'V1OwnerReference',
  'V1LabelSelector',
  'V1NodeSelector',
  'V1NodeSelectorTerm',
  'V1ObjectFieldSelector',
  'V1ResourceFieldSelector',
  'V1SecretKeySelector',
  'V1ConfigMapKeySelector',
  'V1FileKeySelector',
  'V1LocalObjectReference',
  'V1TypedLocalObjectReference',
  'V1ObjectReference',
  'V1SecretReference',
  'V1ScopeSelector',
  'V1TopologySelectorTerm',
  'V1EndpointAddress',
  'CoreV1EndpointPort',
  'DiscoveryV1EndpointPort',
  'V1RoleRef',
  'RbacV1Subject',
  'V1MatchResources',
  'V1ParamKind',
  'V1ParamRef',
]);

export const atomicMaps: ReadonlySet<string> = new Set(['V1PodSpec.nodeSelector', 'V1ServiceSpec.selector']);

/** Fields that hold quantities: a string or a number is taken. */
export const quantities: ReadonlySet<string> = new Set([
  'V1ResourceRequirements.limits',
  'V1ResourceRequirements.requests',
  'V1VolumeResourceRequirements.limits',
  'V1VolumeResourceRequirements.requests',
  'V1PodSpec.overhead',
  'V1PersistentVolumeSpec.capacity',
  'V1PersistentVolumeClaimStatus.capacity',
  'V1PersistentVolumeClaimStatus.allocatedResources',
  'V1NodeStatus.capacity',
  'V1NodeStatus.allocatable',
  'V1ResourceQuotaSpec.hard',
  'V1ResourceQuotaStatus.hard',
  'V1ResourceQuotaStatus.used',
  'V1LimitRangeItem.default',
  'V1LimitRangeItem.defaultRequest',
  'V1LimitRangeItem.max',
  'V1LimitRangeItem.min',
  'V1LimitRangeItem.maxLimitRequestRatio',
  'V1EmptyDirVolumeSource.sizeLimit',
  'V1ResourceFieldSelector.divisor',
  'V1ContainerStatus.allocatedResources',
]);

/** Defaults that matter when a list key is left out. */
export const keyDefaults: Readonly<Record<string, string>> = {
  'V1ContainerPort.protocol': 'TCP',
  'V1ServicePort.protocol': 'TCP',
};
