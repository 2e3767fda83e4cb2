/** For tests: fixtures, and a judge that needs no server. */
export { definitionOf, type Fixture, loadFixtures, loadUserManifests, type Manifest } from './fixtures.ts';
export { judge } from './judge.ts';
export { lint } from './lint.ts';
export { plantUnguardedRule } from './plant-unguarded-rule.ts';
