/** For tests: fixtures, and an evaluation of schemas and rules that needs no server. */

export { evaluateRules } from './evaluate-rules.ts';
export { definitionOf, type Fixture, loadFixtures, loadUserManifests, type Manifest } from './fixtures.ts';
export { lint } from './lint.ts';
export { plantUnguardedRule } from './plant-unguarded-rule.ts';
