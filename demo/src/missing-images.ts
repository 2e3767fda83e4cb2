/** Whether a cluster can get the images, asked before anything is installed: one pod that names them all. */
import { type Client, type DeepReadonly, draftOf, type Pod, pods, sleep } from '@slurm-operator/kube';
import { DemoRefusedError } from './names.ts';

/** What a kubelet says of an image that it does not get. */
const refusals = [
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
];

/** A registry that hiccups once is asked again by the kubelet; one that still says no after this does not have it. */
const patienceMs = 3_000;
const LONGEST_CAUSE = 400;

export interface MissingImage {
  readonly image: string;
  /** The kubelet's words. */
  readonly why: string;
}

/** The images of this pod that its machine cannot get just now. */
export function missingImages({ spec, status }: DeepReadonly<Pod>): MissingImage[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return statuses.flatMap(({ name, state }) => {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (!refusals.includes(reason)) return [];
    const image = containers.find((each) => each.name === name)?.image ?? '';
    return [{ image, why: `${reason}${message === '' ? '' : `: ${message}`}` }];
  });
}

/** Whether its machine has every image, whatever became of the containers. */
export function hasImages({ spec, status }: DeepReadonly<Pod>): boolean {
  const statuses = status?.containerStatuses ?? [];
  return (
    statuses.length === (spec?.containers.length ?? 0) &&
    statuses.every(({ state }) => {
      const waiting = state?.waiting?.reason;
      if (waiting === undefined) return state?.running !== undefined || state?.terminated !== undefined;
      return waiting !== 'ContainerCreating' && waiting !== 'PodInitializing' && !refusals.includes(waiting);
    })
  );
}

export function explainMissing(missing: readonly MissingImage[]): string {
  const lines = new Map(missing.map(({ image, why }) => [image, why]));
  return `the cluster cannot get ${lines.size === 1 ? 'an image' : `${lines.size} images`}:
${[...lines].map(([image, why]) => `  ${image}  (${cause(why)})`).join('\n')}
Build them with \`make images\` (needs root, no Docker): it prints an archive for each. Then either
  load the archives onto every machine: localcluster load-image, kind load image-archive, ctr -n k8s.io images import; or
  push them to a registry that the cluster can reach, and name it: REGISTRY=registry.example.com/hpc make demo`;
}

/** The cause is at the end of what the kubelet says: the beginning repeats the name of the image. */
function cause(why: string): string {
  const said = why.replace(/^ImagePullBackOff: Back-off pulling image "[^"]*": /, '');
  return said.length > LONGEST_CAUSE ? `${said.slice(0, LONGEST_CAUSE)}…` : said;
}

export interface ImageCheckOptions {
  readonly namespace: string;
  readonly images: readonly string[];
  readonly say: (line: string) => void;
  /** How long machines may take to fetch them. @default 600,000 */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Throws with the names of those that the cluster cannot get, within seconds of its saying so. */
export async function checkImages(client: Client, options: ImageCheckOptions): Promise<void> {
  const { namespace, images, say, timeoutMs = 600_000, signal } = options;
  const ref = { namespace, name: 'demo-images' };
  await removePod(client, ref, signal);
  await client.create(
    pods,
    draftOf(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: ref,
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 0,
        automountServiceAccountToken: false,
        // Not every image has a program of this name. It only matters that the image comes.
        containers: images.map((image, index) => ({
          name: `image-${index}`,
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['true'],
        })),
      },
    }),
  );
  try {
    const began = performance.now();
    let missingSince: number | undefined;
    for (let told = began; ; ) {
      const pod = await client.get(pods, ref);
      if (hasImages(pod)) return;
      const now = performance.now();
      const missing = missingImages(pod);
      missingSince = missing.length === 0 ? undefined : (missingSince ?? now);
      if (missingSince !== undefined && now - missingSince > patienceMs)
        throw new DemoRefusedError(explainMissing(missing));
      if (now - began > timeoutMs)
        throw new Error(`the images did not come within ${timeoutMs / 1000} s: ${whyPending(pod)}`);
      if (now - told > 15_000) {
        told = now;
        say(
          `… the cluster fetches the images, ${Math.round((now - began) / 1000)} s so far: ${whyPending(pod)}`,
        );
      }
      await sleep(300, signal ?? AbortSignal.timeout(5_000));
    }
  } finally {
    await client.delete(pods, ref, { gracePeriodSeconds: 0 });
  }
}

/** One that an interrupted run left. */
async function removePod(client: Client, ref: { namespace: string; name: string }, signal?: AbortSignal) {
  const deadline = performance.now() + 60_000;
  while ((await client.find(pods, ref)) !== undefined) {
    await client.delete(pods, ref, { gracePeriodSeconds: 0 });
    if (performance.now() > deadline) throw new Error(`the pod ${ref.name} of an earlier run does not go`);
    await sleep(300, signal ?? AbortSignal.timeout(5_000));
  }
}

function whyPending({ status }: DeepReadonly<Pod>): string {
  const unscheduled = status?.conditions?.find(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  );
  return unscheduled?.message ?? status?.phase ?? 'its pod says nothing';
}
