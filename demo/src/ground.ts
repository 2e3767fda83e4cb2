/** Checks whether the demo can be installed: nothing is there, or only objects of an earlier run. Objects of others are never changed. */
import {
  AlreadyExistsError,
  type Client,
  customResourceDefinitions,
  type DeepReadonly,
  draftOf,
  type KubeObject,
  namespaces,
} from '@slurm-operator/kube';
import { everyKind } from '@slurm-operator/operator';
import { DemoRefusedError, demoNamespace, demoOperatorNamespace, mark, releases } from './names.ts';

export interface Ground {
  /** Namespaces with the demo's names that it did not make. */
  readonly foreignNamespaces: readonly string[];
  /** Custom resource definitions of ours that another installation brought. */
  readonly foreignDefinitions: readonly string[];
  /** Those that the demo brought. */
  readonly ownDefinitions: readonly string[];
  readonly ownNamespaces: readonly string[];
}

export async function surveyGround(client: Client): Promise<Ground> {
  const found = { own: [] as string[], foreign: [] as string[] };
  for (const name of [demoNamespace, demoOperatorNamespace]) {
    const namespace = await client.find(namespaces, { name });
    if (namespace !== undefined) found[isMarked(namespace) ? 'own' : 'foreign'].push(name);
  }
  const kinds = new Set(everyKind.map(({ plural, apiVersion }) => `${plural}.${apiVersion.split('/')[0]}`));
  const { items } = await client.list(customResourceDefinitions);
  const definitions = items.filter(({ metadata }) => kinds.has(metadata.name));
  const names = (list: readonly DeepReadonly<KubeObject>[]) => list.map(({ metadata }) => metadata.name);
  return {
    foreignNamespaces: found.foreign,
    ownNamespaces: found.own,
    foreignDefinitions: names(definitions.filter((each) => !isOfOurRelease(each))),
    ownDefinitions: names(definitions.filter(isOfOurRelease)),
  };
}

/** Why the demo cannot stand there; undefined when it can. */
export function refusal({ foreignNamespaces, foreignDefinitions }: Ground): string | undefined {
  const elsewhere = 'Take another cluster, or unset KUBECONFIG to have one on this machine.';
  if (foreignNamespaces.length > 0)
    return `the namespace ${foreignNamespaces.join(' and ')} exists and was not made by the demo (it has no label ${mark.name}=${mark.value}). Nothing was changed. ${elsewhere}`;
  if (foreignDefinitions.length > 0)
    return `an operator for Slurm is installed on this cluster already (${foreignDefinitions.join(', ')}), and two of them would fight. Nothing was changed. ${elsewhere}`;
  return undefined;
}

/** Makes both namespaces, or finds them as an earlier run left them. */
export async function takeGround(client: Client): Promise<void> {
  const refused = refusal(await surveyGround(client));
  if (refused !== undefined) throw new DemoRefusedError(refused);
  for (const name of [demoNamespace, demoOperatorNamespace]) {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        labels: {
          [mark.name]: mark.value,
          // Workers are privileged by default.
          ...(name === demoNamespace ? { 'pod-security.kubernetes.io/enforce': 'privileged' } : {}),
        },
      },
    };
    try {
      await client.create(namespaces, draftOf(namespaces, namespace));
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
      const found = await client.get(namespaces, { name });
      if (!isMarked(found))
        throw new DemoRefusedError(`the namespace ${name} is not the demo's`, { cause: error });
      if (found.metadata.deletionTimestamp !== undefined)
        throw new DemoRefusedError(
          `the namespace ${name} of an earlier demo is still being removed: try again when it is gone.`,
        );
    }
  }
}

/** Objects of our kinds outside the demo: they depend on its operator. */
export async function othersObjects(client: Client, ground: Ground): Promise<string[]> {
  const others: string[] = [];
  for (const resource of everyKind) {
    if (!ground.ownDefinitions.includes(`${resource.plural}.${resource.apiVersion.split('/')[0]}`)) continue;
    for (const { metadata } of (await client.list(resource)).items)
      if (metadata.namespace !== demoNamespace)
        others.push(`${resource.kind} ${metadata.namespace}/${metadata.name}`);
  }
  return others;
}

const isMarked = ({ metadata }: DeepReadonly<KubeObject>): boolean =>
  metadata.labels?.[mark.name] === mark.value;

/** helm writes down whose an object is, and CRDs that stay keep saying so. */
const isOfOurRelease = ({ metadata }: DeepReadonly<KubeObject>): boolean =>
  metadata.annotations?.['meta.helm.sh/release-name'] === releases.customResources.name &&
  metadata.annotations?.['meta.helm.sh/release-namespace'] === releases.customResources.namespace;
