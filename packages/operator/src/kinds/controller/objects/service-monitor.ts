/** The ServiceMonitor by which Prometheus finds slurmctld's metrics. */
import { app, type Controller, resourceName } from '@slurm-operator/api';
import type { KubeObject, Live } from '@slurm-operator/kube';
import { digestOf } from '../../../objects/digest.ts';
import { builtMeta, selectorLabels } from '../../../objects/object-meta.ts';
import type { Read } from '../../../objects/read.ts';
import { metricsLabel } from './services.ts';

export interface ServiceMonitor extends KubeObject {
  spec: object;
}

const usualPaths = ['jobs', 'nodes', 'partitions', 'scheduler'].map((what) => ({ path: `/metrics/${what}` }));

/** Undefined when none is requested. */
export function buildServiceMonitor(controller: Read<Controller>): ServiceMonitor | undefined {
  const { metrics } = controller.spec;
  const monitor = metrics.serviceMonitor;
  if (!metrics.enabled || !monitor?.enabled) return undefined;
  const { name, namespace } = controller.metadata;
  const endpoints = monitor.endpoints?.length ? monitor.endpoints : usualPaths;
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: builtMeta(resourceName.controller(name), 'controller', controller, name, monitor),
    spec: {
      namespaceSelector: { matchNames: [namespace] },
      selector: { matchLabels: { ...selectorLabels('controller', name), ...metricsLabel } },
      endpoints: endpoints.map(
        (endpoint: Read<{ path: string; interval?: string; scrapeTimeout?: string }>) => ({
          port: app.controller,
          scheme: 'http',
          path: endpoint.path,
          ...optional('interval', endpoint.interval ?? monitor.interval),
          ...optional('scrapeTimeout', endpoint.scrapeTimeout ?? monitor.scrapeTimeout),
        }),
      ),
    },
  };
}

/** Equal for equal ServiceMonitors of the same Controller. */
export function monitorDigest(controller: Live<Controller>): string {
  const wanted = buildServiceMonitor(controller);
  return wanted === undefined ? 'none' : digestOf([controller.metadata.uid, wanted]);
}

const optional = (key: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [key]: value };
