import assert from 'node:assert/strict';
import { test } from 'node:test';
import { libraryPackages, machines } from '../src/operator/operator-files.ts';
import { recipes } from '../src/recipes.ts';
import { dockerfile } from './dockerfile.ts';
import { generate } from './index.ts';
import { operatorDockerfile } from './operator-dockerfile.ts';

test('a Dockerfile has what the recipe has', () => {
  const text = dockerfile(recipes.login, '26.05');
  assert.match(text, /^ARG BASE=debian:forky-slim$/m);
  assert.match(text, /groupadd --gid 401 slurm; /);
  assert.match(text, /Suites: sid forky.*\n.*Pin: release n=sid' 'Pin-Priority: 100'/);
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

test('the operator’s Dockerfile copies every library of its list, for each machine, and runs as nobody', () => {
  const text = operatorDockerfile();
  for (const library of Object.values(libraryPackages).flat())
    assert.ok(text.includes(` ${library}`), library);
  for (const [architecture, { triplet, loader }] of Object.entries(machines))
    assert.ok(text.includes(`${architecture}) triplet=${triplet}; loader=${loader};;`), architecture);
  assert.match(text, /^FROM scratch$/m);
  assert.match(text, /^USER 65532:65532$/m);
  assert.match(text, /^ENTRYPOINT \["\/manager"\]$/m);
});
