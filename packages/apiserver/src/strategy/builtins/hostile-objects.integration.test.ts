/** Recorded objects with one thing changed to nonsense: the server answers each with sense, never with a crash. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ApiServer, startApiServer } from '../../server.ts';

interface Posted {
  readonly path: string;
  readonly body: object;
}

type Step = string | number;

/** Objects of built-in kinds that recordings post, moved into the default namespace. */
function recordedObjects(): Posted[] {
  const folder = join(import.meta.dirname, '../../../testdata/contract');
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

function send(server: ApiServer, agent: Agent, method: string, path: string, body: object) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      {
        method,
        agent,
        ca: server.caPem,
        cert: server.admin.certificatePem,
        key: server.admin.keyPem,
        headers: { 'content-type': method === 'PATCH' ? 'application/json-patch+json' : 'application/json' },
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

const nonsense: readonly unknown[] = [undefined, null, {}, [], '', 0, -1, true, [null], { a: null }];

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
      fc.constantFrom(...nonsense),
      async ({ path, body, place }, value) => {
        const { status, text } = await send(
          server,
          agent,
          'POST',
          `${path}?dryRun=All`,
          changed(body, place, value),
        );
        // A fault of our own says so; faults of the request that are 500 on a real server do not.
        assert.ok(status < 500 || !/Internal error occurred/.test(text), `${place.join('.')}: ${text}`);
      },
    ),
    { numRuns: 300 },
  );
});

test('a patch to nonsense changes or is refused with a reason', async (t) => {
  const server = await startApiServer();
  const agent = new Agent({ keepAlive: true });
  t.after(async () => {
    agent.destroy();
    await server.stop();
  });
  const places: { path: string; place: readonly Step[] }[] = [];
  for (const { path, body } of recordedObjects()) {
    const made = await send(server, agent, 'POST', path, body);
    const stored = JSON.parse(made.text) as {
      metadata: { name?: string; uid?: string; managedFields?: unknown };
    };
    if (made.status !== 201 || stored.metadata.uid === undefined || /\/(token|binding|eviction)$/.test(path))
      continue;
    delete stored.metadata.managedFields;
    for (const place of pathsIn(stored))
      places.push({ path: `${path}/${stored.metadata.name ?? ''}`, place });
  }
  assert.ok(places.length > 500, `only ${places.length} places to patch`);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...places),
      fc.constantFrom(...nonsense),
      async ({ path, place }, value) => {
        const pointer = `/${place.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
        const operation =
          value === undefined ? { op: 'remove', path: pointer } : { op: 'replace', path: pointer, value };
        const { status, text } = await send(server, agent, 'PATCH', `${path}?dryRun=All`, [operation]);
        assert.ok(status < 500 || !/Internal error occurred/.test(text), `${path} ${pointer}: ${text}`);
      },
    ),
    { numRuns: 300 },
  );
});
