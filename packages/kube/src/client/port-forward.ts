/** One connection to a port of a pod, as a stream. */
import { Duplex } from 'node:stream';
import { RemoteCommandError } from '../errors.ts';
import type { ObjectRef } from '../object.ts';
import { pathOf } from '../resource.ts';
import { pods } from '../resources.ts';
import { openChannels } from './channels.ts';
import type { Client } from './client.ts';
import type { CallOptions } from './options.ts';

const DATA = 0;
const ERROR = 1;

/** Opens one connection; open another for each one you need. Ends when either side ends it. */
export async function portForward(
  client: Client,
  pod: ObjectRef,
  port: number,
  options: CallOptions = {},
): Promise<Duplex> {
  const doing = `forward port ${port} of ${pod.name}`;
  // Each channel begins with a message that holds the number of its port.
  const greeted = new Set<number>();
  const early: Buffer[] = [];
  let stream: Duplex | undefined;
  const path = `${pathOf(pods, { ...pod, subresource: 'portforward' })}?ports=${port}`;
  const channels = await openChannels(client, path, {
    ...options,
    doing,
    protocols: ['v4.channel.k8s.io'],
    onMessage(channel, data) {
      if (!greeted.has(channel)) {
        greeted.add(channel);
        return;
      }
      if (channel === DATA) {
        if (stream === undefined) early.push(data);
        else stream.push(data);
      } else if (channel === ERROR)
        stream?.destroy(new RemoteCommandError(`cannot ${doing}: ${data.toString('utf8').trim()}`));
    },
  });
  stream = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, taken) => void channels.send(DATA, chunk).then(() => taken()),
    final: (done) => {
      channels.close();
      done();
    },
    destroy: (error, done) => {
      channels.close();
      done(error);
    },
  });
  for (const data of early) stream.push(data);
  const ended = stream;
  channels.closed.then(
    () => ended.push(null),
    (error: unknown) => ended.destroy(error as Error),
  );
  return stream;
}
