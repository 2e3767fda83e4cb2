/**
 * What happened beside the recorded requests, by case: the recording's notes and setup tell it, the replay does it.
 */
import type { Caller } from './backend.ts';
import type { RecordedCase } from './case.ts';
import { eventually } from './eventually.ts';
import type { Masks } from './masks.ts';
import { at } from './reductions.ts';
import type { WebhookStandIn } from './webhook-stand-in.ts';

export interface StageTools {
  readonly recorded: RecordedCase;
  readonly caller: Caller;
  readonly masks: Masks;
  /** The answers to the setup, in order. */
  readonly setup: readonly unknown[];
  readonly webhooks: WebhookStandIn;
}

export interface Stage {
  /** Before a step (counted from 1) is sent. */
  before?(step: number, tools: StageTools): Promise<void>;
  /** While the watch of a step is open. */
  during?(step: number, tools: StageTools): Promise<void>;
  /** The body to send in place of the recorded one, where that was cut down. */
  body?(step: number, recorded: unknown): unknown;
  /** The recording caught controllers between two writes at this step: only these fields outlast the moment. */
  lasting?(step: number): readonly string[] | undefined;
  /** Events to compare where their number depends on timing. */
  looseEvents?(
    recorded: readonly unknown[],
    actual: readonly unknown[],
  ): { recorded: readonly unknown[]; actual: readonly unknown[] };
}

const stages: Readonly<Record<string, Stage>> = {
  'controllers/16-deployment': {
    lasting: (step) => (step === 9 ? ['spec', 'kind'] : step === 10 ? ['name', 'annotations'] : undefined),
  },
  'controllers/18-endpointslice-publish-not-ready': {
    // The older Endpoints had not followed the slices yet.
    lasting: (step) => (step === 5 ? ['kind', 'apiVersion'] : undefined),
  },
  'controllers/24-node-unreachable': {
    async before(step, { caller }) {
      if (step === 1) keepReady(caller, 'fx-good', 60);
      // A controller had written its annotation by the time the recording went on.
      if (step === 3)
        await eventually(
          'an annotation of the controller',
          async () => at(await get(caller, '/api/v1/nodes/fx-lost'), 'metadata', 'annotations') !== undefined,
          { deadline: 60_000 },
        ).catch(() => {}); // what the next step meets is compared in any case
    },
  },
  'crud/31-too-large': { body: (_step, recorded) => largeConfigMap(String(recorded)) },
  'crud/33-namespace-terminating': {
    async before(step, { caller, recorded }) {
      if (caller.backend.controllers) return;
      // What the namespace controller did: empties it, tells what is left, lets it go.
      const path = '/api/v1/namespaces/crud-term';
      const headers = { 'user-agent': 'kube-controller-manager/v1.36.4' };
      if (step === 6) {
        // Owners are listed by the second they wrote in, and a controller is not that quick.
        await nextSecond();
        for (const one of ['configmaps', 'serviceaccounts'])
          await caller.call({ method: 'DELETE', path: `${path}/${one}`, headers });
        const conditions = at(recorded.steps[5]?.body, 'status', 'conditions') as object[];
        const body = {
          status: { conditions: conditions.map((one) => ({ ...one, lastTransitionTime: aTime })) },
        };
        const merge = { ...headers, 'content-type': 'application/merge-patch+json' };
        await caller.call({ method: 'PATCH', path: `${path}/status`, headers: merge, body });
      }
      if (step === 8) {
        const body = { ...((await get(caller, path)) as object), spec: { finalizers: [] } };
        await caller.call({ method: 'PUT', path: `${path}/finalize`, headers, body });
      }
    },
  },
  'admission/07-failure-policy-fail': { body: (_step, recorded) => withoutServer(recorded) },
  'admission/08-failure-policy-ignore': { body: (_step, recorded) => withoutServer(recorded) },
  'builtins/09-statefulset-immutable': minded('/apis/apps/v1/namespaces/builtins/statefulsets/t9'),
  'builtins/12-pvc': {
    async before(step, tools) {
      if (step === 5)
        await asController(tools, `${builtins}/persistentvolumeclaims/v12`, {
          metadata: { finalizers: null },
        });
    },
  },
  'builtins/19-eviction-pdb': {
    async before(step, tools) {
      const budget = '/apis/policy/v1/namespaces/builtins/poddisruptionbudgets/b19/status';
      if (step === 2 || step === 5) await asController(tools, budget, recordedStatus(tools, step));
      // The pod that is being evicted is not counted as healthy any more.
      if (step === 7) await asController(tools, budget, { status: { currentHealthy: 1 } });
    },
  },
  'builtins/20-eviction-unready': minded('/apis/policy/v1/namespaces/builtins/poddisruptionbudgets/b20'),
  'builtins/23-node': {
    async before(step, tools) {
      const node = '/api/v1/nodes/fx-n23';
      if (step === 2)
        await asController(tools, node, {
          metadata: { annotations: { 'node.alpha.kubernetes.io/ttl': '0' } },
        });
      const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule', timeAdded: aTime };
      if (step === 4) await asController(tools, node, { spec: { taints: [taint] } });
    },
  },
  'patch/08-strategic-containers': minded('/apis/apps/v1/namespaces/patch/deployments/s8'),
  'patch/09-strategic-env': minded('/apis/apps/v1/namespaces/patch/deployments/s9'),
  'patch/11-strategic-replace-directive': minded('/apis/apps/v1/namespaces/patch/deployments/s11'),
  'list-watch/03-continue-errors': {
    async before(step, { masks, caller }) {
      masks.bind('<continue-1>', 'garbage');
      if (step !== 2) return;
      const page = await get(caller, `${configMaps}?limit=1`);
      masks.bind('<continue-2>', String(at(page, 'metadata', 'continue')));
    },
  },
  'list-watch/08-rv-semantics': {
    before: (_step, { masks, setup }) => {
      masks.bind('<rv-2>', String(at(setup[0], 'metadata', 'resourceVersion')));
      return Promise.resolve();
    },
  },
  'list-watch/09-rv-errors': {
    async before(step, { masks, caller }) {
      if (step !== 6) return;
      const list = await get(caller, configMaps);
      masks.bind('<rv-1>', String(Number(at(list, 'metadata', 'resourceVersion')) + 1_000_000));
    },
  },
  'list-watch/17-timeout-seconds': {
    during: (step, tools) => (step === 2 ? outsideTheSelector(tools, 'l17-other') : Promise.resolve()),
    looseEvents: firstAndLast,
  },
  'list-watch/25-too-old-list': {
    async before(step, { masks, caller }) {
      if (step === 2)
        // The recording also compacted the store here, but its watch cache still held what came before.
        for (const i of ['0', '1', '2', '3', '4', 'z'])
          await caller.call({
            method: 'PATCH',
            path: `${configMaps}/l25-1`,
            headers: { 'content-type': 'application/merge-patch+json' },
            body: { data: { i } },
          });
      const token = { v: 'meta.k8s.io/v1', rv: 2, start: 'l25-1\0' };
      masks.bind('<continue-3>', Buffer.from(JSON.stringify(token)).toString('base64url'));
    },
  },
  'list-watch/28-bookmarks-idle': {
    async during(_step, tools) {
      for (const name of ['l28-a', 'l28-b', 'l28-c']) await outsideTheSelector(tools, name);
    },
    looseEvents: firstAndLast,
  },
};

/** A controller minds the object: before a step that shows its status, it had written what the step was recorded with. */
function minded(path: string): Stage {
  return {
    async before(step, tools) {
      const { request, body } = tools.recorded.steps[step - 1] ?? {};
      if (request?.path.split('?')[0] !== path || !isMinded(body)) return;
      await asController(tools, `${path}/status`, recordedStatus(tools, step));
    },
  };
}

function isMinded(body: unknown): boolean {
  const owners = at(body, 'metadata', 'managedFields');
  return Array.isArray(owners) && owners.some((entry) => at(entry, 'manager') === 'kube-controller-manager');
}

export function stageOf(name: string): Stage {
  return stages[name] ?? {};
}

const builtins = '/api/v1/namespaces/builtins';

/** What a controller wrote between two steps, where none runs beside the server. */
async function asController({ caller }: StageTools, path: string, body: object): Promise<void> {
  if (caller.backend.controllers) return;
  const headers = {
    'user-agent': 'kube-controller-manager/v1.36.4',
    'content-type': 'application/merge-patch+json',
  };
  await caller.call({ method: 'PATCH', path, headers, body });
}

/** The status that a step was recorded with, with a time for those that were hidden. */
function recordedStatus({ recorded }: StageTools, step: number): object {
  const status = at(recorded.steps[step - 1]?.body, 'status');
  return { status: JSON.parse(JSON.stringify(status).replaceAll('<time>', aTime)) as object };
}

/** Nothing listens on port 1, which is as good as a webhook that is down. */
function withoutServer(recorded: unknown): unknown {
  return JSON.parse(JSON.stringify(recorded).replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1'));
}

const aTime = '2001-01-01T00:00:00Z';

/** Heartbeats of a node, now and for a while, beside the steps. */
function keepReady(caller: Caller, node: string, times: number): void {
  const now = new Date().toISOString();
  const condition = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: now };
  const beat = async () => {
    await caller
      .call({
        method: 'PATCH',
        path: `/api/v1/nodes/${node}/status`,
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
        body: { status: { conditions: [condition] } },
      })
      .catch(() => {}); // the case is over
    if (times > 0) setTimeout(() => keepReady(caller, node, times - 1), 200).unref();
  };
  void beat();
}

const configMaps = '/api/v1/namespaces/list-watch/configmaps';

function nextSecond(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1000 - (Date.now() % 1000)));
}

async function get(caller: Caller, path: string): Promise<unknown> {
  return JSON.parse((await caller.call({ method: 'GET', path })).text);
}

async function outsideTheSelector({ caller }: StageTools, name: string): Promise<void> {
  await caller.call({ method: 'POST', path: configMaps, body: { metadata: { name } } });
}

/** How many bookmarks come in a few seconds is a matter of timing; what the first and the last say is not. */
function firstAndLast(recorded: readonly unknown[], actual: readonly unknown[]) {
  const ends = (events: readonly unknown[]) => (events.length < 2 ? events : [events[0], events.at(-1)]);
  return recorded.length === 1
    ? { recorded, actual: actual.slice(-1) }
    : { recorded: ends(recorded), actual: ends(actual) };
}

/** `<ConfigMap a31 with data.k of 3200000 characters>` written out. */
function largeConfigMap(recorded: string): unknown {
  const size = Number(/of (\d+) characters/.exec(recorded)?.[1]);
  const value = { k: 'x'.repeat(size) };
  return recorded.includes('annotation')
    ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a31', annotations: value } }
    : { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a31' }, data: value };
}
