/** slurmctld as Kubernetes runs it: the StatefulSet's pod, the trials of its configuration, and when it reads a new one. */
import { app, label, resourceName } from '@slurm-operator/api';
import { trialApp } from '../../src/slurm-config/trial/config-check.ts';
import type { MemoryKube, StoredObject } from './memory-kube.ts';
import type { Json } from './merge.ts';
import type { ModelSlurm } from './model-slurm.ts';

interface Template {
  readonly metadata?: { readonly labels?: object; readonly annotations?: object };
  readonly spec?: { readonly containers?: readonly { readonly name: string; readonly image?: string }[] };
}

export class Slurmctld {
  readonly #kube: MemoryKube;
  readonly #slurm: ModelSlurm;
  /** Configurations that a trial has been made of. */
  readonly #tried = new Set<string>();
  readonly #revisions = new WeakMap<Template, string>();
  /** It runs, with a configuration. */
  answers = false;
  /** It was uninstalled: the first configuration after that is read by no daemon that runs. */
  #isAbsent = false;

  constructor(kube: MemoryKube, slurm: ModelSlurm) {
    this.#kube = kube;
    this.#slurm = slurm;
  }

  work(now: number, breaks: (what: string) => void): void {
    this.#runTrials(now);
    const set = this.#kube.list('statefulsets')[0];
    if (set === undefined) {
      this.answers = false;
      this.#isAbsent = true;
      for (const pod of this.#pods()) this.#kube.remove('pods', pod);
      return;
    }
    const restarted = this.#runPod(set, now) && this.#slurm.conf.text !== '';
    const text = this.#textOf(set);
    if (text === undefined || (text === this.#slurm.conf.text && !restarted)) return;
    // The side container waits for jobs whose PrologSlurmctld runs.
    if (!restarted && this.#slurm.starting(now).length > 0) return;
    const isFirst = this.#slurm.conf.text === '' || this.#isAbsent;
    this.#isAbsent = false;
    if (!isFirst && text !== this.#slurm.conf.text && !this.#tried.has(text))
      breaks('L13: slurmctld reads a configuration that was never tried');
    if (restarted) this.#slurm.restart(text, now);
    else this.#slurm.reconfigure(text);
    this.answers = true;
    // As the reconciler of the connection reports it; that it has answered once is remembered there.
    for (const cluster of this.#kube.list('clusters'))
      this.#kube.change('clusters', cluster, (live) => ({ ...live, status: { slurmVersion: '26.05.5' } }));
  }

  /** A pod is to be replaced, or a configuration to be read: both happen within a second, before people do something that the guard did not see. */
  get isChanging(): boolean {
    const set = this.#kube.list('statefulsets')[0];
    if (set === undefined) return false;
    const text = this.#textOf(set);
    if (text !== undefined && text !== this.#slurm.conf.text) return true;
    const revision = this.#revisionOf((set['spec'] as { template?: Template }).template ?? {});
    return this.#pods().some(
      ({ metadata }) =>
        metadata.labels?.['controller-revision-hash'] !== revision ||
        metadata.deletionTimestamp !== undefined,
    );
  }

  #textOf({ metadata }: StoredObject): string | undefined {
    const [namespace = '', name = ''] = [metadata.namespace, metadata.labels?.[label.instance]];
    const config = this.#kube.get('configmaps', namespace, resourceName.config(name));
    return (config?.['data'] as Record<string, string> | undefined)?.['slurm.conf'];
  }

  #pods(): StoredObject[] {
    return this.#kube.list('pods').filter(({ metadata }) => metadata.labels?.[label.name] === app.controller);
  }

  /** Whatever is tried is found good. */
  #runTrials(now: number): void {
    for (const pod of this.#kube.list('pods')) {
      if (pod.metadata.labels?.[label.name] !== trialApp) continue;
      if (pod.metadata.deletionTimestamp !== undefined) this.#kube.remove('pods', pod);
      for (const map of this.#kube.list('configmaps')) {
        const text = (map['data'] as Record<string, string> | undefined)?.['slurm.conf'];
        if (text !== undefined) this.#tried.add(text);
      }
      const finishedAt = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
      const { containers = [] } = pod['spec'] as NonNullable<Template['spec']>;
      this.#kube.change('pods', pod, (live) => ({
        ...live,
        status: {
          phase: 'Succeeded',
          containerStatuses: containers.map((container) => ({
            name: container.name,
            restartCount: 0,
            state: { terminated: { exitCode: 0, finishedAt } },
          })),
        },
      }));
    }
  }

  /** As the StatefulSet controller does; a claim outlives its StatefulSet. */
  #createClaims(set: StoredObject, pod: string): void {
    const { volumeClaimTemplates = [], selector } = set['spec'] as {
      volumeClaimTemplates?: readonly { metadata: { name: string } }[];
      selector?: { matchLabels?: Record<string, string> };
    };
    const { namespace = '' } = set.metadata;
    for (const { metadata } of volumeClaimTemplates) {
      const name = `${metadata.name}-${pod}`;
      if (this.#kube.get('persistentvolumeclaims', namespace, name) !== undefined) continue;
      this.#kube.create('persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name, namespace, labels: { ...selector?.matchLabels } },
        spec: {},
        status: { phase: 'Bound' },
      });
    }
  }

  #revisionOf(template: Template): string {
    const known = this.#revisions.get(template) ?? `rev-${digest(JSON.stringify(template))}`;
    this.#revisions.set(template, known);
    return known;
  }

  /** One pod per StatefulSet: made again when its template changed or it was deleted. Its state outlives it. True: one was started. */
  #runPod(set: StoredObject, now: number): boolean {
    const spec = set['spec'] as { replicas?: number; template?: Template };
    const revision = this.#revisionOf(spec.template ?? {});
    const name = `${set.metadata.name}-0`;
    const [live] = this.#pods().filter((pod) => pod.metadata.name === name);
    const isCurrent =
      live?.metadata.labels?.['controller-revision-hash'] === revision &&
      live.metadata.deletionTimestamp === undefined;
    if (live !== undefined && !isCurrent) this.#kube.remove('pods', live);
    if (!isCurrent) {
      this.#createClaims(set, name);
      const at = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
      const { containers = [] } = spec.template?.spec ?? {};
      this.#kube.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name,
          namespace: set.metadata.namespace,
          labels: { ...spec.template?.metadata?.labels, 'controller-revision-hash': revision },
          annotations: { ...spec.template?.metadata?.annotations },
        },
        spec: { nodeName: 'machine-0', containers },
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at }],
          containerStatuses: containers.map((container) => ({
            name: container.name,
            restartCount: 0,
            state: { running: { startedAt: at } },
          })),
        },
      });
    }
    const status = {
      observedGeneration: set.metadata.generation,
      replicas: 1,
      readyReplicas: 1,
      updatedReplicas: 1,
      updateRevision: revision,
      currentRevision: revision,
    };
    this.#kube.change('statefulsets', set, (object): Json => ({ ...object, status }));
    return !isCurrent;
  }
}

function digest(text: string): string {
  let sum = 0;
  for (let i = 0; i < text.length; i += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(i)) >>> 0;
  return sum.toString(16);
}
