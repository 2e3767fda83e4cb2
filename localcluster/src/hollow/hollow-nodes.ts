/**
 * Thousands of nodes that are only objects: their pods are reported Running and end when they are deleted. One watch
 * and one writer serve all of them, so that a scale test measures what it tests and not its own nodes.
 */
import { AlreadyExistsError, draftOf, type Manager, NotFoundError } from '@slurm-operator/kube';
import { buildNode, nodeStatus } from '../agent/node-object.ts';
import { inBatches } from '../in-batches.ts';
import { hollowAddress, hollowLabel, hollowPodStatus } from '../objects/hollow-status.ts';
import { nodes, type Pod, pods } from '../objects/objects.ts';

export interface HollowOptions {
  readonly count: number;
  readonly capacity: Readonly<Record<string, string>>;
  /** The names are this, a dash and a number. @default "hollow" */
  readonly prefix?: string;
}

/** Call before the manager starts; the answer registers the nodes once it runs. */
export function addHollowNodes(manager: Manager, options: HollowOptions): () => Promise<void> {
  const { cache, client, clock } = manager;
  const prefix = options.prefix ?? 'hollow';
  const isOurs = (name: string | undefined) => name !== undefined && name.startsWith(`${prefix}-`);
  let addresses = 0;
  const timestamp = () => new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const indexOf = (name: string) => Number(name.slice(prefix.length + 1));

  manager
    .controller('hollow-pods')
    .for(pods, {
      predicate: (change) => change.type !== 'deleted' && isOurs(change.object.spec.nodeName),
    })
    .options({ workers: 32 })
    .reconcile(async ({ namespace, name }, { signal }) => {
      const pod = cache.get(pods, { namespace, name });
      if (pod === undefined || !isOurs(pod.spec.nodeName)) return;
      if (pod.metadata.deletionTimestamp !== undefined) await end(pod, signal);
      else if (pod.status?.phase !== 'Running') await run(pod, signal);
    });

  async function run(pod: Pod, signal: AbortSignal): Promise<void> {
    addresses += 1;
    const hostIP = hollowAddress(2 ** 21 + indexOf(pod.spec.nodeName ?? ''));
    const status = hollowPodStatus(pod, hollowAddress(addresses), hostIP, timestamp());
    await client
      .patch(
        pods,
        pod.metadata,
        { type: 'merge', body: { metadata: { uid: pod.metadata.uid }, status } },
        { subresource: 'status', signal, fieldManager: 'kubelet' },
      )
      .catch(ignoreMissing);
  }

  async function end(pod: Pod, signal: AbortSignal): Promise<void> {
    await client
      .delete(pods, pod.metadata, { uid: pod.metadata.uid, gracePeriodSeconds: 0, signal })
      .catch(ignoreMissing);
  }

  return async () => {
    const numbers = Array.from({ length: options.count }, (_, index) => index + 1);
    await inBatches(numbers, async (number) => {
      const description = {
        name: `${prefix}-${number}`,
        address: hollowAddress(2 ** 21 + number),
        podCidr: '100.64.0.0/10',
        agentPort: 10_250,
        capacity: options.capacity,
        labels: { [hollowLabel]: 'true' },
        kernel: '',
        osImage: 'hollow',
        bootId: crypto.randomUUID(),
        architecture: 'amd64',
      };
      const { spec, ...node } = buildNode(description);
      await client
        .create(nodes, draftOf(nodes, { ...node, spec: { providerID: spec.providerID } }), {
          fieldManager: 'kubelet',
        })
        .catch((error: unknown) => {
          if (!(error instanceof AlreadyExistsError)) throw error;
        });
      await client.mergePatch(
        nodes,
        { name: description.name },
        { status: nodeStatus(description, clock.now()) },
        { subresource: 'status', fieldManager: 'kubelet' },
      );
    });
  };
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFoundError)) throw error;
}
