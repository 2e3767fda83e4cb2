import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readReviewResponse, refusalOf } from './review-response.ts';

const uid = 'u-1';
const answer = (response: object | undefined, more: object = {}) => ({
  status: 200,
  text: JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response, ...more }),
});
const patch = Buffer.from('[{"op":"add","path":"/a","value":1}]').toString('base64');

const faults: { reason: string; outcome: Parameters<typeof readReviewResponse>[0]; want: RegExp }[] = [
  {
    reason: 'no connection',
    outcome: { fault: 'Post "x": refused' },
    want: /^failed to call webhook: Post "x": refused$/,
  },
  {
    reason: 'an HTTP error',
    outcome: { status: 500, text: 'boom' },
    want: /an error on the server \("boom"\)/,
  },
  { reason: 'text that is no JSON', outcome: { status: 200, text: 'boo' }, want: /invalid character 'b'/ },
  {
    reason: 'JSON that is no object',
    outcome: { status: 200, text: '"x"' },
    want: /cannot unmarshal string/,
  },
  { reason: 'no response', outcome: answer(undefined), want: /webhook response was absent$/ },
  {
    reason: 'another kind',
    outcome: answer({ uid }, { kind: 'Pod' }),
    want: /expected webhook response of admission/,
  },
  { reason: 'another uid', outcome: answer({ uid: 'u-2' }), want: /expected response.uid="u-1", got "u-2"$/ },
  {
    reason: 'a patch of no type',
    outcome: answer({ uid, patch }),
    want: /response.patch but not response.patchType$/,
  },
  {
    reason: 'a type of no patch',
    outcome: answer({ uid, patchType: 'JSONPatch' }),
    want: /patchType but not response.patch$/,
  },
  {
    reason: 'an unknown type',
    outcome: answer({ uid, patch, patchType: 'Merge' }),
    want: /invalid response.patchType of "Merge"$/,
  },
  {
    reason: 'a patch that is no JSON',
    outcome: answer({ uid, patch: Buffer.from('{').toString('base64'), patchType: 'JSONPatch' }),
    want: /no JSON$/,
  },
];

describe('readReviewResponse', () => {
  for (const { reason, outcome, want } of faults)
    it(`fails on ${reason}`, () => {
      const reading = readReviewResponse(outcome, uid, true);
      assert.match('fault' in reading ? reading.fault : 'no fault', want);
    });
  it('ignores a patch of a validating webhook', () => {
    const reading = readReviewResponse(answer({ uid, allowed: true, patch }), uid, false);
    assert.deepEqual(reading, { response: { allowed: true, warnings: [], annotations: {} } });
  });
  it('keeps warnings, also of a refusal', () => {
    const reading = readReviewResponse(answer({ uid, allowed: false, warnings: ['careful'] }), uid, false);
    assert.deepEqual(reading, { response: { allowed: false, warnings: ['careful'], annotations: {} } });
  });
});

describe('refusalOf', () => {
  it('is 400 without explanation when the webhook gives none', () => {
    const { code, message } = refusalOf('w', { allowed: false, warnings: [], annotations: {} });
    assert.deepEqual([code, message], [400, 'admission webhook "w" denied the request without explanation']);
  });
  it('takes code, reason and message from the webhook', () => {
    const error = refusalOf('w', {
      allowed: false,
      warnings: [],
      annotations: {},
      status: { code: 403, reason: 'Forbidden', message: 'no' },
    });
    assert.deepEqual(
      [error.code, error.reason, error.message],
      [403, 'Forbidden', 'admission webhook "w" denied the request: no'],
    );
  });
});
