import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  NotSupported,
  ProtocolError,
  Refused,
  Timeout,
  Unauthenticated,
  Unavailable,
} from '@slurm-operator/slurm';
import { classify } from './failure.ts';

const system = (code: string) => Object.assign(new Error(`connect ${code}`), { code });
const cases: readonly { error: unknown; class: string; reason: string; says?: RegExp }[] = [
  {
    error: new Unavailable('x', { cause: system('ENOTFOUND') }),
    class: 'transient',
    reason: 'DnsFailed',
    says: /DNS/,
  },
  { error: new Unavailable('x', { cause: system('EAI_AGAIN') }), class: 'transient', reason: 'DnsFailed' },
  {
    error: new Unavailable('x', { cause: new Error('y', { cause: system('ECONNREFUSED') }) }),
    class: 'transient',
    reason: 'ConnectionRefused',
  },
  { error: new Timeout('x'), class: 'transient', reason: 'ConnectionTimeout', says: /NetworkPolicy/ },
  {
    error: new Unavailable('x', { cause: system('EHOSTUNREACH') }),
    class: 'transient',
    reason: 'ConnectionTimeout',
  },
  {
    error: new Unavailable('x', { cause: system('DEPTH_ZERO_SELF_SIGNED_CERT') }),
    class: 'transient',
    reason: 'TlsFailed',
    says: /caConfigMapRef/,
  },
  {
    error: new Unauthenticated('x'),
    class: 'authentication',
    reason: 'AuthenticationFailed',
    says: /JWT key/,
  },
  { error: new NotSupported('x'), class: 'configuration', reason: 'VersionUnsupported' },
  {
    error: new Unavailable('no slurmctld responds: a, b'),
    class: 'transient',
    reason: 'ControllerUnreachable',
    says: /a, b/,
  },
  {
    error: new Unavailable('failed 9 times in a row, the next try is in 26 s', { cause: new Timeout('x') }),
    class: 'transient',
    reason: 'ConnectionTimeout',
  },
  { error: new ProtocolError('html'), class: 'transient', reason: 'SlurmError' },
  { error: new Refused('no', { text: 'Access denied' }), class: 'transient', reason: 'SlurmError' },
  { error: new TypeError('a bug'), class: 'transient', reason: 'SlurmError', says: /a bug/ },
];

for (const { error, class: failureClass, reason, says } of cases)
  test(`${String(error)} is ${failureClass}: ${reason}`, () => {
    const failure = classify(error, 'http://slurm-restapi:6820');
    assert.deepEqual([failure.class, failure.reason], [failureClass, reason]);
    assert.match(failure.message, /http:\/\/slurm-restapi:6820/);
    if (says !== undefined) assert.match(failure.message, says);
    assert.doesNotMatch(failure.message, /\n|\.\./);
  });
