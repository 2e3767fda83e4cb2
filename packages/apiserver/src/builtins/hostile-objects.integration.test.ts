/** Recorded objects with one thing changed to nonsense: the server answers each with sense, never with a crash. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ApiServer, startApiServer } from '../server.ts';

interface Posted {
  readonly path: string;
  readonly body: object;
}

type Step = string | number;

/** Objects of built-in kinds that recordings post, moved into the default namespace. */
function recordedObjects(): Posted[] {
  const folder = join(import.meta.dirname, '../../testdata/contract');
  const found = new Map<string, Posted>();
  for (const file of globSync('{builtins,authz,admission,crud,controllers,patch}/*.json', { cwd: folder })) {
    const recorded = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      setup?: { method?: string; path: string; body?: unknown }[];
      steps: { request?: { method?: string; path: string; body?: unknown } }[];
    };
    for (const made of [...(recorded.setup ?? []), ...recorded.steps.map((step) => step.request)]) {
      if (
        made === undefined ||
        (made.method ?? 'POST') !== 'POST' ||
        /example\.org|customresource/.test(made.path)
      )
        continue;
      if (typeof made.body !== 'object' || made.body === null) continue;
      const path = (made.path.split('?')[0] ?? '').replace(/namespaces\/[a-z0-9-]+\//, 'namespaces/default/');
      found.set(`${path} ${Object.keys(made.body).join()}`, { path, body: made.body });
    }
  }
  return [...found.values()];
}

function* pathsIn(value: unknown, above: readonly Step[] = []): Generator<readonly Step[]> {
  if (above.length > 0) yield above;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value))
    yield* pathsIn(item, [...above, Array.isArray(value) ? Number(key) : key]);
}

/** The object with one place changed; `undefined` takes the place away. */
function changed(object: object, path: readonly Step[], value: unknown): object {
  const copy = structuredClone(object);
  let place = copy as Record<Step, unknown>;
  for (const step of path.slice(0, -1)) place = place[step] as Record<Step, unknown>;
  const last = path.at(-1) ?? '';
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}

function post(server: ApiServer, agent: Agent, path: string, body: object) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      `${server.url}${path}?dryRun=All`,
      {
        method: 'POST',
        agent,
        ca: server.caPem,
        cert: server.admin.certificatePem,
        key: server.admin.keyPem,
        headers: { 'content-type': 'application/json' },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

test('an object with one thing wrong is stored or refused with a reason', async (t) => {
  const server = await startApiServer();
  const agent = new Agent({ keepAlive: true });
  t.after(async () => {
    agent.destroy();
    await server.stop();
  });
  const wrong = recordedObjects().flatMap(({ path, body }) =>
    [...pathsIn(body)].map((place) => ({ path, body, place })),
  );
  assert.ok(wrong.length > 500, `only ${wrong.length} places to change`);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...wrong),
      fc.constantFrom<unknown>(undefined, null, {}, [], '', 0, -1, true, [null], { a: null }),
      async ({ path, body, place }, value) => {
        const { status, text } = await post(server, agent, path, changed(body, place, value));
        // A fault of our own says so; faults of the request that are 500 on a real server do not.
        assert.ok(status < 500 || !/Internal error occurred/.test(text), `${place.join('.')}: ${text}`);
      },
    ),
    { numRuns: 300 },
  );
});
