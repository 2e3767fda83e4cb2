/**
 * How a built-in object looks once it has been through the server's typed model: empty lists and maps are gone, so are
 * zeros and empty texts of fields that cannot tell "unset" from "zero", while some parts are always there
 * (`resources: {}`, `lastProbeTime: null`). Quantities take their canonical text.
 *
 * The schema says which fields exist; the tables below say what it does not: which scalars can hold a zero,
 * and which parts a typed object always has.
 */
import { badRequest } from '../errors.ts';
import type { Schema as PlainSchema } from '../ports/schema-source.ts';
import type { JsonObject } from '../types.ts';
import { base64Fault, readMicroTime, readTime } from './go-time.ts';
import { canonicalQuantity, QUANTITY_SYNTAX_MESSAGE } from './quantity.ts';

/** A schema that says which type of the model it was made from. */
type Schema = PlainSchema & { readonly 'x-type-name'?: string };

/** Optional scalars whose zero is a value of its own and is kept. One line per type. */
const KEEP_ZERO = fields(`
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
const ALWAYS = fields(`
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
const NULL_WHEN_UNSET = fields(`
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

/** Lists that are owned by whoever sends them empty. */
const EMPTY_IS_OWNED = fields(`
  V1Role rules
  V1ClusterRole rules
`);

/** Scalars that are written even when they are zero, though the schema does not call them required. */
const ZERO_WHEN_UNSET = fields(`
  V1StatefulSetSpec serviceName
  V1StatefulSetStatus availableReplicas
  V1PodDisruptionBudgetStatus currentHealthy desiredHealthy disruptionsAllowed expectedPods
  V1PriorityClass value
  CoreV1Event reportingComponent reportingInstance
  V2HorizontalPodAutoscalerStatus desiredReplicas
`);

/** Pointers that the schema calls required: absent stays absent, and validation speaks. */
const ABSENT_THOUGH_REQUIRED = fields(`
  V1StatefulSetSpec selector
  V1DeploymentSpec selector
  V1ReplicaSetSpec selector
  V1DaemonSetSpec selector
  V1MutatingWebhook sideEffects
  V1ValidatingWebhook sideEffects
  V1HTTPIngressPath pathType
`);

/** Gives the object its wire shape in place; throws a 400 when a quantity in it is none. */
export function shapeForWire(object: JsonObject, schema: Schema, kind: string, version: string): void {
  const faults: string[] = [];
  shapeStruct(object, schema, faults);
  const [fault] = faults;
  if (fault !== undefined)
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${fault}`,
    );
}

function shapeStruct(value: JsonObject, schema: Schema, faults: string[]): void {
  const plan = planOf(schema);
  for (const key in value) {
    const field = plan.fields.get(key);
    if (field === undefined) continue;
    const shaped = shapeField(value[key], field, faults);
    if (shaped === undefined) delete value[key];
    else value[key] = shaped as never;
  }
  for (const [key, fallback] of plan.fallbacks) {
    if (value[key] !== undefined) continue;
    if (fallback === EMPTY_STRUCT) {
      const made: JsonObject = {};
      const field = plan.fields.get(key);
      if (field?.schema) shapeStruct(made, field.schema, faults);
      value[key] = made;
    } else value[key] = fallback;
  }
}

interface Field {
  readonly type: 'list' | 'map' | 'struct' | 'quantity' | 'time' | 'scalar' | 'any';
  readonly keepZero: boolean;
  /** An empty list stays for now: it is stored as null, but whoever sent it owns it. */
  readonly keepEmpty?: boolean;
  readonly schema: Schema | undefined;
}

/** What a field holds when the client left it out: an empty struct of its type, or a plain value. */
type Fallback = typeof EMPTY_STRUCT | null | string | number | boolean;
const EMPTY_STRUCT = Symbol('an empty struct');

interface Plan {
  readonly fields: ReadonlyMap<string, Field>;
  readonly fallbacks: readonly (readonly [string, Fallback])[];
}

function shapeField(value: unknown, field: Field, faults: string[]): unknown {
  if (value === undefined || value === null) return undefined;
  switch (field.type) {
    case 'any':
      return value;
    case 'quantity':
      return quantity(value, faults);
    case 'time':
      return time(value, field, faults);
    case 'list':
      return shapeList(value, field, faults);
    case 'map':
      return shapeMap(value, field, faults);
    case 'struct':
      if (isStruct(value) && field.schema) shapeStruct(value, field.schema, faults);
      return value;
    case 'scalar':
      return field.keepZero || (value !== 0 && value !== '' && value !== false) ? value : undefined;
    default:
      return value;
  }
}

function shapeList(value: unknown, field: Field, faults: string[]): unknown {
  if (!Array.isArray(value)) return value;
  if (value.length === 0) return field.keepEmpty ? value : undefined;
  if (field.schema) for (const item of value) if (isStruct(item)) shapeStruct(item, field.schema, faults);
  return value;
}

function shapeMap(value: unknown, field: Field, faults: string[]): unknown {
  if (!isStruct(value)) return value;
  const keys = Object.keys(value);
  if (keys.length === 0) return undefined;
  if (field.schema && isQuantity(field.schema))
    for (const key of keys) value[key] = quantity(value[key], faults) as never;
  else if (field.schema?.format === 'byte')
    for (const key of keys) {
      const text = value[key];
      const fault = base64Fault(typeof text === 'string' ? text : '');
      if (fault !== undefined) faults.push(fault);
      value[key] ??= '';
    }
  return value;
}

function time(value: unknown, field: Field, faults: string[]): unknown {
  if (typeof value !== 'string') return value;
  const read = field.schema?.format === 'date-time-micro' ? readMicroTime(value) : readTime(value);
  if ('text' in read) return read.text;
  faults.push(read.fault);
  return value;
}

function quantity(value: unknown, faults: string[]): unknown {
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const text = canonicalQuantity(value);
  if (text === undefined) faults.push(QUANTITY_SYNTAX_MESSAGE);
  return text ?? value;
}

const plans = new WeakMap<Schema, Plan>();

function planOf(schema: Schema): Plan {
  const known = plans.get(schema);
  if (known) return known;
  const type = schema['x-type-name'] ?? '';
  const required = new Set(schema.required ?? []);
  const fieldsOfType = new Map<string, Field>();
  const fallbacks: [string, Fallback][] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const path = `${type}.${name}`;
    const always = required.has(name) || ZERO_WHEN_UNSET.has(path);
    const field = {
      ...fieldOf(property, KEEP_ZERO.has(path) || always),
      keepEmpty: EMPTY_IS_OWNED.has(path),
    };
    fieldsOfType.set(name, field);
    if (NULL_WHEN_UNSET.has(path)) fallbacks.push([name, null]);
    else if (ALWAYS.has(path)) fallbacks.push([name, EMPTY_STRUCT]);
    else if (always && !ABSENT_THOUGH_REQUIRED.has(path) && name !== 'metadata')
      fallbacks.push([name, zeroOf(property, field)]);
    else if (type === 'V1ResourceFieldSelector' && name === 'divisor') fallbacks.push([name, '0']);
  }
  const plan = { fields: fieldsOfType, fallbacks };
  plans.set(schema, plan);
  return plan;
}

function fieldOf(property: Schema, keepZero: boolean): Field {
  if (isQuantity(property)) return { type: 'quantity', keepZero, schema: undefined };
  if (property.format === 'date-time' || property.format === 'date-time-micro')
    return { type: 'time', keepZero, schema: property };
  if (property['x-kubernetes-int-or-string']) return { type: 'scalar', keepZero, schema: undefined };
  if (property['x-kubernetes-preserve-unknown-fields']) return { type: 'any', keepZero, schema: undefined };
  if (property.type === 'array')
    return { type: 'list', keepZero, schema: property.items?.properties ? property.items : undefined };
  if (property.type === 'object' && property.properties === undefined) {
    const values = property.additionalProperties;
    return { type: 'map', keepZero, schema: typeof values === 'object' ? values : undefined };
  }
  if (property.type === 'object') return { type: 'struct', keepZero, schema: property };
  return { type: 'scalar', keepZero, schema: undefined };
}

function zeroOf(property: Schema, field: Field): Fallback {
  if (field.type === 'struct') return EMPTY_STRUCT;
  if (field.type !== 'scalar') return null;
  if (property['x-kubernetes-int-or-string']) return 0;
  switch (property.type) {
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return '';
  }
}

function isQuantity(schema: Schema): boolean {
  return schema.format === 'quantity';
}

function isStruct(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
