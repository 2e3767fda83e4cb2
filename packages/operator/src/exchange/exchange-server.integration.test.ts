/** What the server of the token exchange bears before it knows who asks: slow, many and senseless requests. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { connect } from 'node:tls';
import { tokenExchange } from '@slurm-operator/api';
import { silent, systemClock } from '@slurm-operator/kube';
import { until } from '@slurm-operator/kube/testing';
import { createAuthority, issueServing } from '@slurm-operator/kubernetes-values';
import { ExchangeServer } from './exchange-server.ts';
import type { ExchangeAnswer } from './exchange-token.ts';
import { RequestLimits } from './request-limits.ts';

const patience = 400;
const often = { burst: 1_000, perSecond: 1_000 };
const stop = new AbortController();
let server: ExchangeServer;
let running: Promise<void>;
let ca = '';
let failures = often;
let now = 0;
let asked = 0;
let answer: ExchangeAnswer = { status: 200, body: { token: 't' }, isKnown: true };
const lines: string[] = [];

/** One server, with limits that each test sets. */
let limits: RequestLimits;
const setLimits = (): void => {
  limits = new RequestLimits({ all: often, each: often, failures, localFailures: failures });
};

before(async () => {
  const times = { now: systemClock.now(), lifetime: 3_600_000 };
  const authority = await createAuthority({ name: 'test', ...times });
  const { certificatePem, keyPem } = await issueServing(authority, { hosts: [tokenExchange.host], ...times });
  ca = authority.certificatePem;
  server = new ExchangeServer({
    port: 0,
    host: '127.0.0.1',
    certificates: {
      run: async (use, signal) => {
        use({ cert: certificatePem, key: keyPem });
        if (!signal.aborted) await once(signal, 'abort');
      },
    },
    exchange: () => {
      asked += 1;
      return Promise.resolve(answer);
    },
    limits: {
      waitOfAddress: (...words: Parameters<RequestLimits['waitOfAddress']>) => limits.waitOfAddress(...words),
      giveBack: (address: string) => limits.giveBack(address),
    },
    now: () => now,
    log: {
      ...silent,
      warn: (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`),
    },
    patience,
  });
  running = server.run(stop.signal);
  await until('it listens', () => server.port);
});
after(async () => {
  stop.abort();
  await running;
});
beforeEach(() => {
  failures = often;
  setLimits();
  now += 60_000;
  asked = 0;
  answer = { status: 200, body: { token: 't' }, isKnown: true };
  lines.length = 0;
});

const place = () => ({ host: '127.0.0.1', port: server.port ?? 0, ca, servername: tokenExchange.host });

function post(body = '{}'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...place(), path: tokenExchange.path, method: 'POST', agent: false },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Announces a body and sends one byte of it. */
async function slow(): Promise<{ readonly answer: Promise<string>; readonly socket: Socket }> {
  const socket = connect(place());
  await once(socket, 'secureConnect');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  const answered = once(socket, 'close').then(() => text);
  socket.write(`POST ${tokenExchange.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`);
  return { answer: answered, socket };
}

test('a body that arrives slowly is refused in time, and the connection is closed', async () => {
  const { answer: answered } = await slow();
  const text = await answered;
  assert.match(text, /^HTTP\/1\.1 408 [^]*Connection: close[^]*took too long/);
  assert.equal(asked, 0);
});

test('slow requests take no place of others', async () => {
  const all = await Promise.all(Array.from({ length: 60 }, () => slow()));
  assert.equal(await post(), 200);
  for (const { answer: answered } of all) assert.match(await answered, /^HTTP\/1\.1 408/);
});

test('a connection that is never secured, or sends no headers, is closed', async () => {
  const bare = connectTcp({ host: '127.0.0.1', port: server.port ?? 0 });
  bare.on('error', () => undefined);
  const silentOne = connect(place());
  silentOne.on('error', () => undefined);
  silentOne.resume();
  bare.resume();
  await Promise.all([once(bare, 'close'), once(silentOne, 'close')]);
});

test('requests that come to nothing use up the share of their address; users do not', async () => {
  failures = { burst: 3, perSecond: 1 };
  setLimits();
  for (let count = 0; count < 5; count += 1) assert.equal(await post(), 200);
  answer = { status: 401, body: { message: 'no' } };
  const answers: number[] = [];
  for (let count = 0; count < 6; count += 1) answers.push(await post());
  assert.deepEqual(answers, [401, 401, 401, 429, 429, 429]);
  assert.equal(asked, 8, 'the API server is not asked about the others');
  assert.equal(lines.filter((line) => line.includes('too many requests')).length, 1, lines.join('\n'));
  now += 1_000;
  assert.equal(await post(), 401, 'one more after a second');
  now += 10_000;
  answer = { status: 503, body: { message: 'away' } };
  for (let count = 0; count < 6; count += 1) assert.equal(await post(), 503, 'that is not their fault');
});

test('many connections of one machine leave room for a few more, and are counted down', async () => {
  const open = Array.from({ length: 110 }, () => {
    const socket = connectTcp({ host: '127.0.0.1', port: server.port ?? 0 });
    socket.on('error', () => undefined).resume();
    return once(socket, 'close');
  });
  await Promise.all(open);
  assert.match(lines.join('\n'), /too many requests/);
  assert.equal(await post(), 200);
});
