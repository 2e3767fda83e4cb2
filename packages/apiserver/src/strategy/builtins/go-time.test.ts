import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { base64Fault, readMicroTime, readTime } from './go-time.ts';

describe('times', () => {
  it('micro times keep six digits', () =>
    assert.deepEqual(readMicroTime('2026-01-02T03:04:05.120000Z'), { text: '2026-01-02T03:04:05.120000Z' }));
  it('a micro time in another zone is written in UTC', () =>
    assert.deepEqual(readMicroTime('2026-01-02T04:04:05.123456+01:00'), {
      text: '2026-01-02T03:04:05.123456Z',
    }));
  it('a micro time without a fraction is refused, and the fault says where', () =>
    assert.deepEqual(readMicroTime('2026-01-02T03:04:05Z'), {
      fault:
        'parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    }));
  it('words are refused at their first letter', () =>
    assert.deepEqual(readMicroTime('yesterday'), {
      fault:
        'parsing time "yesterday" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "yesterday" as "2006"',
    }));
  it('a plain time loses its fraction', () =>
    assert.deepEqual(readTime('2026-01-02T03:04:05.999Z'), { text: '2026-01-02T03:04:05Z' }));
  it('a day that does not exist is refused', () =>
    assert.deepEqual(readTime('2026-13-02T03:04:05Z'), {
      fault: 'parsing time "2026-13-02T03:04:05Z": day out of range',
    }));
});

describe('base64Fault', () => {
  it('counts to the first character that is none', () =>
    assert.equal(base64Fault('not base64!'), 'illegal base64 data at input byte 3'));
  it('is silent on good text', () => assert.equal(base64Fault('eg=='), undefined));
});
