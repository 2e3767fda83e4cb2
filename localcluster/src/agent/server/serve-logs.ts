/** `GET /containerLogs/<namespace>/<pod>/<container>`: the log of a container, from its file, followed if asked. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Agent } from '../agent.ts';
import { readLog } from '../runtime/log-file.ts';

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly query: URLSearchParams;
}

export async function serveLogs(
  agent: Agent,
  ask: LogRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refuse = (status: number, message: string) => {
    response.writeHead(status, { 'Content-Type': 'text/plain' });
    response.end(message);
  };
  const worker = agent.find(ask.namespace, ask.pod);
  if (worker === undefined) return refuse(404, `pod "${ask.pod}" not found`);
  const previous = ask.query.get('previous') === 'true';
  const spec = [...worker.pod.spec.containers, ...(worker.pod.spec.initContainers ?? [])].find(
    ({ name }) => name === ask.container,
  );
  if (spec === undefined) return refuse(400, `container ${ask.container} is not valid for pod ${ask.pod}`);
  const log = worker.logFile(ask.container, previous);
  if (log === undefined)
    return refuse(
      400,
      `${previous ? 'previous terminated ' : ''}container "${ask.container}" in pod "${ask.pod}" not found`,
    );
  const ending = new AbortController();
  request.once('close', () => ending.abort());
  response.once('close', () => ending.abort());
  response.writeHead(200, { 'Content-Type': 'text/plain' });
  const number = (key: string) => (ask.query.get(key) === null ? undefined : Number(ask.query.get(key)));
  const sinceTime = ask.query.get('sinceTime');
  const sinceSeconds = number('sinceSeconds');
  try {
    await readLog(
      log.path,
      log.writer,
      {
        tailLines: number('tailLines'),
        limitBytes: number('limitBytes'),
        sinceTime:
          sinceTime !== null
            ? Date.parse(sinceTime)
            : sinceSeconds === undefined
              ? undefined
              : Date.now() - sinceSeconds * 1000,
        timestamps: ask.query.get('timestamps') === 'true',
        follow: ask.query.get('follow') === 'true',
        signal: ending.signal,
      },
      async (text) => {
        if (!response.write(text))
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      },
    );
  } finally {
    response.end();
  }
}
