/** All controllers of a cluster, on one manager with one set of caches. */
import type { Manager } from '@slurm-operator/kube';
import { endpoints } from '../objects/objects.ts';
import { addDeploymentController } from './deployment/controller.ts';
import { addDisruptionController } from './disruption/controller.ts';
import { addEndpointSliceController } from './endpointslice/controller.ts';
import { addGarbageCollector } from './garbage/controller.ts';
import { addJobController } from './job/controller.ts';
import { addNamespaceController } from './namespace/controller.ts';
import { addNodeLifecycleController } from './node-lifecycle/controller.ts';
import { addPodCollector, type PodCollectorOptions } from './pod-collector/controller.ts';
import { indexPods } from './pod-ownership.ts';
import { addReplicaSetController } from './replicaset/controller.ts';
import { addLoadBalancerController } from './service/load-balancer.ts';
import { addStatefulSetController } from './statefulset/controller.ts';
import { addStorageController } from './storage/controller.ts';
import { addUnattendedKinds } from './unattended/controller.ts';

export interface ControllerOptions {
  /** Where provisioned volumes live. */
  readonly volumes: string;
  /** The n-th address for LoadBalancer Services. */
  readonly ingress: (index: number) => string;
  /** The silence after which a node counts as lost. @default 50 s, as in a real cluster */
  readonly nodeGraceMs?: number | undefined;
  readonly podCollector?: PodCollectorOptions | undefined;
}

export function addControllers(
  manager: Manager,
  { volumes, ingress, nodeGraceMs, podCollector }: ControllerOptions,
): void {
  indexPods(manager);
  manager.cache.informer(endpoints);
  addStatefulSetController(manager);
  addDeploymentController(manager);
  addReplicaSetController(manager);
  addJobController(manager);
  addEndpointSliceController(manager);
  addDisruptionController(manager);
  addNamespaceController(manager);
  addNodeLifecycleController(manager, nodeGraceMs === undefined ? {} : { graceMs: nodeGraceMs });
  addPodCollector(manager, podCollector);
  addStorageController(manager, volumes);
  addLoadBalancerController(manager, ingress);
  addGarbageCollector(manager);
  addUnattendedKinds(manager);
}
