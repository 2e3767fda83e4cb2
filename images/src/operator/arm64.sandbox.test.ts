/** Images for a machine that is not this one: the operator's is built, and of the others it is known that Debian has every package. */
import assert from 'node:assert/strict';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Architecture, resolvePackages } from '@slurm-operator/sandbox';
import type { ImageRecipe } from '../recipe.ts';
import { recipes } from '../recipes.ts';
import { buildOperatorImage } from './build-operator-image.ts';
import { hereArchitecture, machines } from './operator-files.ts';

const other: Architecture = hereArchitecture() === 'amd64' ? 'arm64' : 'amd64';

/** The number that an ELF file has for its machine, by the name that Debian has. */
const elfMachine: Readonly<Record<Architecture, number>> = { amd64: 62, arm64: 183 };

/** The machine that a file is for; undefined when it is no ELF file. */
async function machineOf(path: string): Promise<number | undefined> {
  await using file = await open(path);
  const head = Buffer.alloc(20);
  await file.read(head, 0, 20, 0);
  return head.toString('latin1', 0, 4) === '\x7fELF' ? head.readUInt16LE(18) : undefined;
}

for (const architecture of [hereArchitecture(), other])
  test(`every program and library in the operator’s image for ${architecture} is for that machine`, async () => {
    const image = await buildOperatorImage({ architecture });
    assert.equal(image.description.architecture, architecture);
    const found: string[] = [];
    for (const entry of await readdir(image.rootfs, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const machine = await machineOf(path);
      if (machine === undefined) continue;
      assert.equal(machine, elfMachine[architecture], path);
      found.push(path.slice(image.rootfs.length));
    }
    assert.ok(found.includes('/usr/bin/node'));
    assert.ok(found.includes(machines[architecture].loader), 'the loader that Node asks for');
    assert.ok(found.length >= 8, found.join());
  });

for (const recipe of Object.values<ImageRecipe>(recipes))
  for (const version of recipe.versions)
    test(`Debian has all of ${recipe.name} ${version} for ${other}`, async () => {
      const packages = await resolvePackages({
        suite: recipe.suite(version),
        alsoFrom: recipe.alsoFrom?.(version) ?? [],
        packages: recipe.packages,
        architecture: other,
      });
      const names = packages.map(({ name }) => name);
      assert.deepEqual(
        recipe.packages.filter((wanted) => !names.includes(wanted)),
        [],
      );
      for (const { name, architecture } of packages)
        assert.ok([other, 'all'].includes(architecture), `${name} is for ${architecture}`);
    });
