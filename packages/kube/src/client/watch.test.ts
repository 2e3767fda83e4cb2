/** How one watch connection may end. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { FakeClock } from '../../testing/index.ts';
import { ConnectionError, GoneError, MalformedError } from '../errors.ts';
import { readWatch } from './watch.ts';

function open() {
  const clock = new FakeClock();
  const stream = Object.assign(new PassThrough(), { complete: false });
  const heard: string[] = [];
  const over = readWatch(
    stream as unknown as IncomingMessage,
    { doing: 'watch pods', idle: 1_000, clock },
    ({ type, object }) => heard.push(`${type} ${object.metadata.resourceVersion}`),
  );
  /** Ends the response as HTTP does. */
  const end = () => {
    stream.complete = true;
    stream.end();
  };
  return { clock, stream, heard, over, end };
}

const line = (type: string, resourceVersion: string) =>
  `${JSON.stringify({ type, object: { metadata: { name: 'p', resourceVersion } } })}\n`;

test('delivers events in order, for any chunks, until the server ends the stream', async () => {
  const { stream, heard, over, end } = open();
  const text = line('ADDED', '1') + line('BOOKMARK', '2');
  stream.write(text.slice(0, 20));
  stream.write(text.slice(20));
  end();
  await over;
  assert.deepEqual(heard, ['ADDED 1', 'BOOKMARK 2']);
});

test('an end within a line is an error', async () => {
  const { stream, heard, over, end } = open();
  stream.write(line('ADDED', '1') + line('MODIFIED', '2').slice(0, 30));
  end();
  await assert.rejects(over, MalformedError);
  assert.deepEqual(heard, ['ADDED 1']);
});

test('distinguishes a broken connection, an ERROR event and malformed data', async () => {
  const broken = open();
  broken.stream.destroy();
  await assert.rejects(broken.over, ConnectionError);
  const gone = open();
  gone.stream.write('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n');
  await assert.rejects(gone.over, GoneError);
  for (const nonsense of [
    '{"type":\n',
    '{"type":"NOVEL","object":{}}\n',
    '{"type":"ADDED","object":{}}\n',
    'null\n',
  ]) {
    const odd = open();
    odd.stream.write(nonsense);
    await assert.rejects(odd.over, MalformedError, nonsense);
  }
});

test('ends after the idle timeout; any byte resets it', async () => {
  const { clock, stream, over } = open();
  await clock.advance(900);
  stream.write('\n');
  await clock.advance(900);
  stream.write('\n');
  let ended = false;
  const failure = assert.rejects(over, /watch pods: no byte for 1000 ms/).then(() => (ended = true));
  await clock.advance(900);
  assert.equal(ended, false);
  await clock.advance(200);
  await failure;
});
