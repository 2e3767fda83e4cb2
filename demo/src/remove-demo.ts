/** Removes what the demo installed on a given cluster, and nothing else; prints what it waits for. */
import type { Helm } from '@slurm-operator/charts';
import {
  type AnyResource,
  type Client,
  customResourceDefinitions,
  type DeepReadonly,
  type KubeObject,
  NotFoundError,
  namespaces,
  pods,
  type Resource,
} from '@slurm-operator/kube';
import { everyKind } from '@slurm-operator/operator';
import { othersObjects, surveyGround } from './ground.ts';
import { demoNamespace, demoOperatorNamespace, releases } from './names.ts';
import { awaitProgress } from './waiting/await-progress.ts';
import { notRemoved, type Remaining } from './waiting/not-removed.ts';
import { lookFurther } from './waiting/wait-report.ts';

export interface RemoveDemoOptions {
  readonly client: Client;
  readonly helm: () => Promise<Helm>;
  readonly step: (title: string) => void;
  readonly say: (line: string) => void;
  /** How long nothing may advance before it stops. @default ten minutes */
  readonly stallMs?: number;
}

/** What it left, and why; empty when the demo is gone altogether. */
export async function removeDemo(options: RemoveDemoOptions): Promise<string[]> {
  const { client, step } = options;
  const ground = await surveyGround(client);
  const left = ground.foreignNamespaces.map((name) => `the namespace ${name}: the demo did not make it`);
  if (ground.ownNamespaces.length === 0 && ground.ownDefinitions.length === 0) {
    step('no demo is on this cluster');
    return left;
  }
  const helm = await options.helm();
  const uninstall = async ({ name, namespace }: { readonly name: string; readonly namespace: string }) => {
    if (ground.ownNamespaces.includes(namespace))
      await helm.run(['uninstall', name, '--namespace', namespace, '--ignore-not-found']);
  };
  const removeNamespace = async (name: string) => {
    if (!ground.ownNamespaces.includes(name)) return;
    step(`removing the namespace ${name}`);
    await client.delete(namespaces, { name });
    await untilGone(options, async () => [
      ...(await remainingOf(client, pods, name)),
      ...(await remainingNamespace(client, name)),
    ]);
  };

  step('uninstalling the Slurm cluster');
  await uninstall(releases.slurm);
  if (ground.ownNamespaces.includes(demoNamespace))
    await untilGone(options, async () =>
      (await Promise.all(everyKind.map((kind) => remainingOf(client, kind, demoNamespace)))).flat(),
    );
  await removeNamespace(demoNamespace);

  const others = await othersObjects(client, ground);
  if (others.length > 0) {
    const named = others.slice(0, 5).join(', ');
    const more = others.length > 5 ? ` and ${others.length - 5} more` : '';
    left.push(
      `the operator in ${demoOperatorNamespace} and the custom resources: ${named}${more} rely on them; remove these and run this again`,
    );
    return left;
  }
  step('uninstalling the operator and its custom resources');
  await uninstall(releases.operator);
  await uninstall(releases.customResources);
  for (const name of ground.ownDefinitions) await client.delete(customResourceDefinitions, { name });
  await removeNamespace(demoOperatorNamespace);
  await untilGone(options, async () => {
    const { items } = await client.list(customResourceDefinitions);
    return items
      .filter(({ metadata }) => ground.ownDefinitions.includes(metadata.name))
      .map((object) => ({ kind: 'CustomResourceDefinition', object: object as DeepReadonly<KubeObject> }));
  });
  return left;
}

async function untilGone(
  { say, stallMs }: RemoveDemoOptions,
  remaining: () => Promise<readonly Remaining[]>,
): Promise<void> {
  const seen = new Set<string>();
  await awaitProgress({
    observe: async () => {
      const lines = notRemoved(await remaining());
      const present = new Set(lines.map(({ subject }) => subject));
      for (const subject of present) seen.add(subject);
      return {
        isDone: lines.length === 0,
        lines,
        milestones: [...seen]
          .filter((subject) => !present.has(subject))
          .map((subject) => `${subject} is gone`),
      };
    },
    say,
    lookFurther: lookFurther('kubectl'),
    ...(stallMs === undefined ? {} : { stallMs }),
  });
}

async function remainingOf(client: Client, resource: AnyResource, namespace: string): Promise<Remaining[]> {
  try {
    const { items } = await client.list(resource as Resource, { namespace });
    return items.map((object) => ({ kind: resource.kind, object }));
  } catch (error) {
    if (error instanceof NotFoundError) return [];
    throw error;
  }
}

async function remainingNamespace(client: Client, name: string): Promise<Remaining[]> {
  const object = await client.find(namespaces, { name });
  return object === undefined ? [] : [{ kind: 'Namespace', object: object }];
}
