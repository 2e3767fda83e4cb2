/** Every package README names its folders, and no source file is too long to read in one go. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { test } from 'node:test';

const longest = 400;
/** Data and what a program wrote is not read from top to bottom. */
const isWritten = (file: string) => /\/(generated|testdata|node_modules)\//.test(file);

/** `name`, `src/name`, `name/<kind>` … in code quotes. */
const names = (readme: string, folder: string) =>
  [...readme.matchAll(/`([^`\n]+)`/g)].some((match) => (match[1] ?? '').split(/[/.]/).includes(folder));

test('every package has a README that names each of its folders', () => {
  const unnamed: string[] = [];
  for (const manifest of globSync(['*/package.json', 'packages/*/package.json'])) {
    const folder = dirname(manifest);
    const readme = `${folder}/README.md`;
    if (!existsSync(readme)) {
      unnamed.push(readme);
      continue;
    }
    const text = readFileSync(readme, 'utf8');
    const subfolders = new Set(
      globSync(`${folder}/src/*/**/*.ts`).map((file) => file.split('/src/')[1]?.split('/')[0]),
    );
    for (const subfolder of subfolders)
      if (subfolder !== undefined && !names(text, subfolder)) unnamed.push(`${folder}/src/${subfolder}`);
  }
  assert.deepEqual(unnamed, []);
});

test('a name counts only where it stands as a name', () => {
  assert.equal(names('| `src/watch` | listers |', 'watch'), true);
  assert.equal(names('| `accounting/`, `token/` | |', 'token'), true);
  assert.equal(names('we watch `jobs/state`', 'watch'), false);
});

test(`no source is longer than ${longest} lines`, () => {
  const long = globSync(['{packages,localcluster,images,charts,demo,e2e,tools,docs}/**/*.{ts,tsx}'], {
    exclude: ['**/node_modules/**'],
  })
    .filter((file) => !isWritten(file))
    .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > longest);
  assert.deepEqual(long, []);
});

test('no file is called by what it is not: utils, helpers, common, misc', () => {
  const vague = globSync(['{packages,localcluster,images,charts,demo,e2e,tools}/**/*.{ts,tsx}'], {
    exclude: ['**/node_modules/**'],
  }).filter((file) => /^(utils?|helpers?|common|misc|shared)\.ts$/.test(basename(file)));
  assert.deepEqual(vague, []);
});
