import { globSync, readFileSync } from 'node:fs';

export interface Source {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly string[];
}

export function source(file: string, text: string): Source {
  const imports = [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1] ?? '');
  return { file, text, imports };
}

/** Every TypeScript file of the given patterns, with the modules that it imports. */
export function readSources(patterns: readonly string[]): Source[] {
  return globSync(patterns, { exclude: ['**/node_modules/**', '**/testdata/**'] })
    .toSorted()
    .map((file) => source(file, readFileSync(file, 'utf8')));
}

/** Tests, and what only tests, benchmarks and generators use. */
export const isTest = (file: string): boolean =>
  /\.test\.tsx?$|\/(testing|testdata|bench|examples|generate)\//.test(file);
