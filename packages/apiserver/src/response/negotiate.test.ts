import assert from 'node:assert/strict';
import { test } from 'node:test';
import { negotiate } from './negotiate.ts';

const asked = (accept: string, query = '') =>
  negotiate({ headers: { accept }, query: new URLSearchParams(query) });

test('the first form that can be given is given', () => {
  assert.deepEqual(asked('*/*'), { format: 'json', as: 'object', pretty: false });
  assert.equal(asked('application/vnd.kubernetes.protobuf, application/yaml').format, 'yaml');
  assert.equal(asked('application/json;as=Table;v=v1;g=meta.k8s.io,application/json').as, 'table');
  assert.equal(asked('application/json;as=Table;v=v9;g=meta.k8s.io,application/json').as, 'object');
  assert.equal(asked('application/json', 'pretty=true').pretty, true);
});

test('what cannot be given is 406 in one of two wordings, and protobuf is named', () => {
  assert.throws(() => asked('text/html'), /406: Not Acceptable/);
  assert.throws(() => asked('application/vnd.kubernetes.protobuf'), /does not support answers in protobuf/);
  assert.throws(
    () => asked('application/json;as=Nonsense;v=v1;g=meta.k8s.io'),
    /only the following media types/,
  );
});
