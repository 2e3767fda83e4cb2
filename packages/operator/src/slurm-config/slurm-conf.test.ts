import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeOptions, renderConf } from './conf-file.ts';
import { parseSlurmConf, topLevelSettings } from './parse.ts';
import { field, remainder, setting, UnsafeValueError } from './setting.ts';

test('the parser reads comments, continuation lines, quotes and keys of any case', () => {
  const text = [
    '# a comment',
    'ClusterName=one # and another',
    'SlurmctldParameters=a,\\',
    '  b',
    'PartitionName=p Nodes=ALL',
    'Epilog="/a path/with blanks"',
    'Weird=a\\#b',
    'clustername=two',
  ].join('\n');
  assert.deepEqual(
    parseSlurmConf(text).map(({ line, pairs }) => [
      line,
      ...pairs.map(({ key, value }) => `${key}=${value}`),
    ]),
    [
      [2, 'ClusterName=one'],
      [3, 'SlurmctldParameters=a,'],
      [5, 'PartitionName=p', 'Nodes=ALL'],
      [6, 'Epilog=/a path/with blanks'],
      [7, 'Weird=a#b'],
      [8, 'clustername=two'],
    ],
  );
  const settings = topLevelSettings(text);
  assert.equal(settings.get('clustername')?.value, 'two', 'the last one wins');
  assert.equal(settings.has('partitionname'), false, 'a record sets nothing for the whole file');
});

test('a key of the user replaces ours, and the file says so', () => {
  const { text, complaints } = renderConf({
    sections: [
      { title: 'GENERAL', settings: [setting('ReturnToService', 2), setting('MaxNodeCount', 1024)] },
    ],
    extra: 'returntoservice=1\n',
  });
  assert.equal(
    text,
    '#\n### GENERAL ###\n# ReturnToService is set in extraConf\nMaxNodeCount=1024\n#\n### EXTRA CONFIG ###\nreturntoservice=1\n',
  );
  assert.deepEqual(complaints, []);
});

test('a key that is ours alone stays ours, and the user is told what to do', () => {
  const { text, complaints } = renderConf({
    sections: [{ title: 'GENERAL', settings: [setting('ClusterName', 'a')] }],
    extra: 'DebugFlags=Gres\nclusterNAME=b',
    reserved: { ClusterName: 'set spec.clusterName' },
  });
  assert.equal(topLevelSettings(text).get('clustername')?.value, 'a');
  assert.deepEqual(complaints, [
    'line 2 of extraConf sets clusterNAME, which is not used: set spec.clusterName',
  ]);
});

test('options are merged: ours win by name, and the user’s keep their case (upstream weakness 20)', () => {
  assert.equal(
    mergeOptions('jwt_key=/evil, jwks=/Etc/Keys.JSON ,FOO', ['jwt_key=/etc/slurm/jwt.key']),
    'jwks=/Etc/Keys.JSON,FOO,jwt_key=/etc/slurm/jwt.key',
  );
  const { text } = renderConf({
    sections: [{ title: 'P', settings: [setting('AuthInfo', 'use_client_ids')] }],
    extra: 'AuthInfo=cred_expire=200',
    merged: { AuthInfo: ['use_client_ids'] },
  });
  assert.match(text, /### MERGED CONFIG ###\nAuthInfo=cred_expire=200,use_client_ids\n$/);
});

test('no value leaves its line or its pair', () => {
  const hostile = [
    'a\nSlurmUser=root',
    'a\rSlurmUser=root',
    'a\u2028SlurmUser=root',
    'a\u0085b',
    'a\0b',
    'a # b',
    'a\\',
    '',
    ' a',
  ];
  for (const value of hostile) {
    assert.throws(() => setting('Key', value), UnsafeValueError, JSON.stringify(value));
    assert.throws(() => field('Key', value), UnsafeValueError, JSON.stringify(value));
    if (value.trim() !== '' && value.trim() === value)
      assert.throws(() => remainder('rest', value), UnsafeValueError, JSON.stringify(value));
  }
  for (const value of ['a b', 'a\tb', 'a"b', "a'b", 'a\\b'])
    assert.throws(() => field('Key', value), UnsafeValueError, JSON.stringify(value));
  assert.throws(() => setting('Key\nOther', 'a'), UnsafeValueError);
  assert.throws(() => setting('Key Other', 'a'), UnsafeValueError);
});

test('whatever text is given, a rendered file has our lines and no other', () => {
  const nasty = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc
      .array(fc.constantFrom('\n', '\r', '\\', '#', '"', ' ', '=', 'SlurmUser', 'root', '\u2028', '\0', 'a'))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(nasty, nasty, (first, second) => {
      let text: string;
      try {
        text = renderConf({
          sections: [
            { title: 'G', settings: [setting('One', first)] },
            { title: 'R', records: [{ fields: [field('NodeSet', second)], rest: remainder('rest', first) }] },
          ],
        }).text;
      } catch (error) {
        assert.ok(error instanceof UnsafeValueError);
        return;
      }
      // Checked with an independent reading: split at anything that might be a line, look at how lines begin.
      const lines = text.split(/[\n\r\u0085\u2028\u2029\0]/);
      assert.deepEqual(
        lines.map((line) => /^(#|One=|NodeSet=|$)/.exec(line)?.[1]),
        ['#', '#', 'One=', '#', '#', 'NodeSet=', ''],
      );
      assert.ok(lines.every((line) => !line.endsWith('\\')));
    }),
    { numRuns: 3000 },
  );
});

test('an error quotes the value so that it cannot forge a line of the log, and cuts it', () => {
  assert.throws(
    () => setting('Key', `x\n${'y'.repeat(500)}`),
    (error) =>
      error instanceof UnsafeValueError && !error.message.includes('\n') && error.message.length < 250,
  );
});
