import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { type FakeAnswer, fakeTransport, status } from '../../testing/fake-transport.ts';
import { Client } from '../client/client.ts';
import { EventRecorder } from './recorder.ts';

interface Sent {
  method: string;
  path: string;
  body: {
    note?: string;
    series?: { count: number };
    regarding?: { name: string };
    metadata?: { namespace?: string; generateName?: string };
  };
}

function setUp(answer: (sent: Sent) => FakeAnswer | undefined = () => undefined) {
  const clock = new FakeClock();
  const sent: Sent[] = [];
  const client = new Client(
    fakeTransport((request) => {
      const one = { method: request.method, path: request.path, body: request.body as Sent['body'] };
      sent.push(one);
      return (
        answer(one) ?? {
          body: { ...one.body, kind: 'Event', metadata: { namespace: 'n', name: `e${sent.length}` } },
        }
      );
    }),
  );
  const recorder = new EventRecorder(client, { controller: 'example.org/c', instance: 'i' }, { clock });
  const stop = new AbortController();
  return { clock, sent, recorder, stop, running: recorder.run(stop.signal) };
}

const web = (name = 'w') => ({
  apiVersion: 'example.org/v1',
  kind: 'Web',
  metadata: { name, namespace: 'n', uid: `uid-${name}` },
});

test('writes an event with its object; repetitions increase its count', async () => {
  const { clock, sent, recorder, stop, running } = setUp();
  recorder.warning(web(), 'FailedCreate', 'no room');
  await clock.advance(10);
  assert.equal(sent.length, 1);
  assert.equal(sent[0]?.path, '/apis/events.k8s.io/v1/namespaces/n/events');
  assert.equal(sent[0]?.body.regarding?.name, 'w');
  for (let i = 0; i < 50; i += 1) recorder.warning(web(), 'FailedCreate', 'no room');
  await clock.advance(60_000);
  const patches = sent.filter(({ method }) => method === 'PATCH');
  assert.ok(patches.length >= 1 && patches.length <= 2, `${patches.length} patches`);
  assert.equal(patches.at(-1)?.body.series?.count, 51);
  stop.abort();
  await clock.advance(0);
  await running;
});

test('the name prefix is valid: it ends with a dash after a letter or digit', async () => {
  const { clock, sent, recorder, stop, running } = setUp();
  for (const name of ['w', 'a.b', `${'x'.repeat(199)}.cut`]) recorder.normal(web(name), 'Created', 'made it');
  await clock.advance(10);
  assert.deepEqual(
    sent.map(({ body }) => body.metadata?.generateName),
    ['w-', 'a.b-', `${'x'.repeat(199)}-`],
  );
  stop.abort();
  await clock.advance(0);
  await running;
});

test('limits the events of one object without affecting others', async () => {
  const { clock, sent, recorder, stop, running } = setUp();
  for (let i = 0; i < 500; i += 1) recorder.normal(web('noisy'), `Reason${i}`, `note ${i}`);
  recorder.normal(web('calm'), 'Created', 'made it');
  await clock.advance(100);
  assert.equal(sent.filter(({ body }) => body.regarding?.name === 'noisy').length, 25);
  assert.equal(sent.filter(({ body }) => body.regarding?.name === 'calm').length, 1);
  assert.equal(recorder.dropped, 475);
  stop.abort();
  await clock.advance(0);
  await running;
});

test('combines many different notes of one reason into one event', async () => {
  const { clock, sent, recorder, stop, running } = setUp();
  for (let i = 0; i < 40; i += 1) recorder.warning(web(), 'FailedCreate', `pod-${i}: no room`);
  await clock.advance(100);
  const creates = sent.filter(({ method }) => method === 'POST');
  assert.equal(creates.length, 11);
  assert.match(creates.at(-1)?.body.note ?? '', /one of many/);
  stop.abort();
  await clock.advance(0);
  await running;
});

test('the note of a combined event is not too long', async () => {
  const { clock, sent, recorder, stop, running } = setUp();
  for (let i = 0; i < 20; i += 1) recorder.warning(web(), 'FailedCreate', `${i}${'x'.repeat(2_000)}`);
  await clock.advance(100);
  assert.match(sent.at(-1)?.body.note ?? '', /one of many/);
  for (const { body } of sent) assert.ok(Buffer.byteLength(body.note ?? '') <= 1_024);
  stop.abort();
  await clock.advance(0);
  await running;
});

test('ignores errors, creates an expired event again, and clips long notes', async () => {
  const { clock, sent, recorder, stop, running } = setUp(({ method }) =>
    method === 'PATCH' ? status(404, 'NotFound') : undefined,
  );
  recorder.normal(web(), 'A', 'é'.repeat(2_000));
  await clock.advance(10);
  assert.ok(Buffer.byteLength(sent[0]?.body.note ?? '') <= 1_024);
  recorder.normal(web(), 'A', 'é'.repeat(2_000));
  await clock.advance(10);
  assert.deepEqual(
    sent.map(({ method }) => method),
    ['POST', 'PATCH', 'POST'],
  );
  stop.abort();
  await clock.advance(0);
  await running;
});

test('writes pending events at the shutdown', async () => {
  const { clock, sent, recorder, stop, running } = setUp();
  await clock.advance(10);
  recorder.normal(web(), 'Stopping', 'bye');
  stop.abort();
  await clock.advance(10);
  await running;
  assert.equal(sent.length, 1);
});
