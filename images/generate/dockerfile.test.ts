import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { libraryPackages, machines } from '../src/operator/operator-files.ts';
import type { ImageRecipe } from '../src/recipe.ts';
import { recipes } from '../src/recipes.ts';
import { dockerfile } from './dockerfile.ts';
import { generate } from './index.ts';
import { operatorDockerfile } from './operator-dockerfile.ts';

test('a Dockerfile has what the recipe has', () => {
  const text = dockerfile(recipes.login, '26.05');
  assert.match(text, /^ARG BASE=debian:forky-slim$/m);
  assert.match(text, /groupadd --gid 401 slurm; /);
  assert.match(text, /Suites: sid.* > \S+\/sid\.sources; .*\n.*Pin: release n=sid' 'Pin-Priority: 100'/);
  for (const name of recipes.login.packages) assert.ok(text.includes(`\n      ${name}`), name);
  assert.match(text, /^COPY --chmod=0755 files\/login\.bash \/usr\/libexec\/slurm-operator\/login\.bash$/m);
  assert.match(text, /find \/usr\/lib\/python3\* -depth -name __pycache__ /);
  assert.match(text, /^ENTRYPOINT \["\/usr\/bin\/tini","-g","--",".*login\.bash"\]$/m);
  assert.match(dockerfile(recipes.slurmctld, '24.11'), /^USER 401:401$/m);
  assert.match(
    dockerfile(recipes.ldap, '2.6'),
    /echo 'slapd slapd\/no_configuration boolean true' \| debconf-set-selections; /,
  );
});

test('text of a recipe cannot leave its place in the shell', () => {
  const text = dockerfile(
    { ...recipes.curl, answers: ["a 'b'; touch /x"], commands: [['echo', '$(id)']] },
    '8',
  );
  assert.ok(text.includes(`echo 'a '\\''b'\\''; touch /x' | debconf-set-selections`));
  assert.ok(text.includes(`echo '$(id)'`));
  assert.throws(
    () => dockerfile({ ...recipes.curl, files: [{ path: '/etc/x', content: 'x' }] }, '8'),
    /\/etc\/x is in a recipe but not in images\/files/,
  );
});

test('there is one for every image and version, and none names a registry', async () => {
  const files = await generate();
  assert.equal(
    files.size,
    // And the operator's.
    1 + Object.values(recipes).reduce((sum, recipe) => sum + recipe.versions.length, 0),
  );
  for (const text of files.values())
    assert.doesNotMatch(text, /FROM \S+\.\S+\/|(BASE|NODE)=[^:\s]*[./]\S*\//);
});

test('the operator’s Dockerfile copies every library of its list, for each architecture, and runs as an unprivileged user', () => {
  const text = operatorDockerfile();
  for (const library of Object.values(libraryPackages).flat())
    assert.ok(text.includes(` ${library}`), library);
  for (const [architecture, { triplet, loader }] of Object.entries(machines))
    assert.ok(text.includes(`${architecture}) triplet=${triplet}; loader=${loader};;`), architecture);
  assert.match(text, /^FROM scratch$/m);
  assert.match(text, /^USER 65532:65532$/m);
  assert.match(text, /^ENTRYPOINT \["\/manager"\]$/m);
});

test('another release is asked for at the archive of the base image, and neither at updates nor at security', () => {
  // As in the images of Debian.
  const sources = `Types: deb
# http://snapshot.example/archive/debian
URIs: http://mirror.example/debian
Suites: forky forky-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.pgp

Types: deb
URIs: http://mirror.example/debian-security
Suites: forky-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.pgp
`;
  const [, program = ''] =
    /sed '([^']+)' \/etc\/apt\/sources\.list\.d\/debian\.sources >/.exec(
      dockerfile(recipes.slurmd, '26.05'),
    ) ?? [];
  const made = execFileSync('sed', [program], { input: sources, encoding: 'utf8' });
  assert.deepEqual(
    made.split('\n').filter((line) => /^(URIs|Suites|Signed-By):/.test(line)),
    [
      'URIs: http://mirror.example/debian',
      'Suites: sid',
      'Signed-By: /usr/share/keyrings/debian-archive-keyring.pgp',
    ],
  );
});

const line = (text: string, instruction: string) =>
  [...text.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map((match) => match[1] ?? '');

for (const recipe of Object.values<ImageRecipe>(recipes))
  for (const version of recipe.versions)
    test(`the Dockerfile of ${recipe.name} ${version} that is committed makes the image of the recipe`, () => {
      const text = readFileSync(`images/generated/${recipe.name}-${version}/Dockerfile`, 'utf8');
      const { config } = recipe;
      const [installed = ''] = /apt-get install [^;]*;/.exec(text) ?? [];
      assert.deepEqual(
        installed
          .slice(0, -1)
          .split(/[\s\\]+/)
          .slice(2)
          .filter((word) => !word.startsWith('--')),
        recipe.packages,
        'packages',
      );
      assert.deepEqual(
        [...text.matchAll(/useradd --uid (\d+) --gid (\d+) .* (\S+?);/g)].map(([, uid, gid, name]) => ({
          name,
          uid: Number(uid),
          gid: Number(gid),
        })),
        recipe.accounts.map(({ name, uid, gid }) => ({ name, uid, gid })),
        'accounts',
      );
      assert.deepEqual(line(text, 'ARG'), [`BASE=debian:${recipe.suite(version)}-slim`]);
      assert.deepEqual(line(text, 'USER'), config.user === undefined ? [] : [config.user]);
      assert.deepEqual(JSON.parse(line(text, 'ENTRYPOINT')[0] ?? 'null'), config.entrypoint);
      assert.deepEqual(line(text, 'EXPOSE'), config.ports ?? []);
      assert.deepEqual(
        line(text, 'ENV'),
        Object.entries(config.env ?? {}).map(([name, value]) => `${name}="${value}"`),
      );
      assert.deepEqual(
        line(text, 'COPY').map((words) => words.split(' ').at(-1)),
        recipe.files.filter(({ directory }) => directory !== true).map(({ path }) => path),
      );
      for (const { path, uid = 0, gid = 0 } of recipe.files.filter(({ directory }) => directory === true))
        assert.match(text, new RegExp(`install -d -m 0\\d+ -o ${uid} -g ${gid} ${path}(;|$)`, 'm'));
      for (const other of recipe.alsoFrom?.(version) ?? []) assert.ok(text.includes(`/${other}.sources;`));
    });
