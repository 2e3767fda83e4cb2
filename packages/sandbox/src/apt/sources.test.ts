import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { baseArchive, parseDeb822Sources, parseOneLineSources } from './sources.ts';

test('one-line sources: options, comments and source packages', () => {
  const text = `
# deb http://off.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg,/b.gpg] http://mirror.example/debian/ bookworm main contrib # why
deb-src http://mirror.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main`;
  assert.deepEqual(parseOneLineSources(text), [
    {
      uri: 'http://mirror.example/debian',
      suites: ['bookworm'],
      components: ['main', 'contrib'],
      signedBy: ['/usr/share/keyrings/a.gpg', '/b.gpg'],
    },
    {
      uri: 'http://security.example/debian-security',
      suites: ['bookworm-security'],
      components: ['main'],
      signedBy: [],
    },
  ]);
});

test('deb822 sources: several stanzas, comments inside, continuation lines, disabled stanzas', () => {
  const text = `Types: deb
# a snapshot
URIs: http://mirror.example/debian/
Suites: bookworm
 bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/a.gpg

Types: deb deb-src
URIs: http://one.example/x http://two.example/x
Suites: sid
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Enabled: no
Types: deb
URIs: http://off.example/x
Suites: sid
Components: main

Types: deb-src
URIs: http://source.example/x
Suites: sid
Components: main
`;
  const sources = parseDeb822Sources(text);
  assert.deepEqual(
    sources.map((source) => source.uri),
    ['http://mirror.example/debian', 'http://one.example/x', 'http://two.example/x'],
  );
  assert.deepEqual(sources[0]?.suites, ['bookworm', 'bookworm-updates']);
  assert.deepEqual(sources[0]?.signedBy, ['/usr/share/keyrings/a.gpg']);
  assert.deepEqual(sources[1]?.signedBy, [], 'an embedded key is not a path');
});

test('the base archive is the one with the release itself, not security, updates or a vendor', () => {
  const source = (uri: string, ...suites: string[]) => ({ uri, suites, components: ['main'], signedBy: [] });
  const base = source('http://m.example/debian', 'bookworm', 'bookworm-updates');
  const others = [
    source('http://m.example/debian-security', 'bookworm-security'),
    source('http://vendor.example/apt', 'nodistro'),
    { ...source('http://vendor.example/contrib', 'bookworm'), components: ['contrib'] },
  ];
  assert.equal(baseArchive([...others, base], 'bookworm'), base);
  assert.equal(baseArchive(others, 'bookworm'), undefined);
  const stable = source('http://m.example/debian', 'stable');
  assert.equal(baseArchive([...others, stable], 'trixie'), stable);
  const vendor = source('http://vendor.example/apt', 'bookworm');
  assert.equal(baseArchive([vendor, base], 'bookworm'), base, 'an archive called debian wins');
});

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,11}$/);
const anySource = fc.record(
  {
    uri: word.map((host) => `http://${host}.example/debian`),
    suites: fc.tuple(word),
    components: fc.array(word, { minLength: 1, maxLength: 3 }),
    signedBy: fc.array(
      word.map((name) => `/keys/${name}.gpg`),
      { maxLength: 2 },
    ),
  },
  { noNullPrototype: true },
);

test('what is written in either format is read back', () => {
  fc.assert(
    fc.property(fc.array(anySource, { maxLength: 4 }), (sources) => {
      const oneLine = sources.map((source) => {
        const options = source.signedBy.length === 0 ? '' : `[signed-by=${source.signedBy.join(',')}] `;
        return `deb ${options}${source.uri}/ ${source.suites[0]} ${source.components.join(' ')}`;
      });
      assert.deepEqual(parseOneLineSources(oneLine.join('\n')), sources);
      const stanzas = sources.map((source) =>
        [
          'Types: deb',
          `URIs: ${source.uri}`,
          `Suites: ${source.suites.join(' ')}`,
          `Components: ${source.components.join(' ')}`,
          `Signed-By: ${source.signedBy.join(' ')}`,
        ].join('\n'),
      );
      assert.deepEqual(parseDeb822Sources(stanzas.join('\n\n')), sources);
    }),
  );
});
