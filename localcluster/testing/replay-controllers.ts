/** Replays a recorded `controllers` case on an embedded API server with this package's controllers beside it. */
import {
  Caller,
  needs,
  prepareNamespaces,
  type RecordedCase,
  recordedCases,
  replay,
  topicOf,
  WebhookStandIn,
} from '@slurm-operator/apiserver/testing';
import { startControlPlane } from './control-plane.ts';

/** Short where a real cluster waits for a minute: what happens is compared, not when. */
const quick = { nodeGraceMs: 1500, podCollector: { everyMs: 200, quarantineMs: 400 } };
/** How long a controller may take for one step. */
const patience = 90_000;

/** The first difference, or undefined when everything was as recorded. */
export async function replayControllers(recorded: RecordedCase): Promise<string | undefined> {
  const plane = await startControlPlane(quick);
  const webhooks = await WebhookStandIn.start();
  const caller = new Caller({
    name: 'embedded with controllers',
    url: plane.server.url,
    caPem: plane.server.caPem,
    certificatePem: plane.server.admin.certificatePem,
    keyPem: plane.server.admin.keyPem,
    embedded: plane.server,
    controllers: true,
  });
  try {
    const earlier = (needs[recorded.name] ?? []).flatMap((name) => recordedCases(name));
    await prepareNamespaces(caller, topicOf(recorded), [...earlier, recorded]);
    for (const one of earlier) {
      const found = await replay(one, { caller, webhooks, patience });
      if (found !== undefined) return `${one.name}, on which this case builds: ${found}`;
    }
    return await replay(recorded, { caller, webhooks, patience });
  } finally {
    caller.close();
    await webhooks.stop();
    await plane.stop();
  }
}
