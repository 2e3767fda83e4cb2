/** Reads every text file that Git tracks and finds the listed words in it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findWords, lineAt, type WordRule } from './find-words.ts';
import { regionsOf } from './regions.ts';

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  readonly write: string;
  /** Users read it: documentation, chart files, and the strings of programs. */
  readonly isVisible: boolean;
  /** The identifier, if it is part of one. Each identifier counts once in an area, however often it is used. */
  readonly name?: string;
}

const listFile = join(import.meta.dirname, 'word-list.json');
const isText = /(?:\.(?:tsx?|md|html|ya?ml|tpl|txt|sh|json)|Makefile|Dockerfile|\.ci\/run)$/;
/** Recorded, generated or foreign text, and the list itself. */
const isForeign =
  /(?:^|\/)(?:testdata|generated|node_modules)\/|^(?:deploy|helm|tools\/words)\/|^charts\/[^/]+\/(?:charts|values\.schema\.json)|slurm-operator-crds\/templates\/slinky|package-lock\.json$/;
const isProse = /(?:\.(?:md|html|ya?ml|tpl|txt)|Makefile)$/;
const isProgram =
  /^(?:packages\/[^/]+|localcluster|images|charts|demo)\/(?:src|generate)\/|^tools\/targets\//;

export function readRules(): WordRule[] {
  return JSON.parse(readFileSync(listFile, 'utf8')) as WordRule[];
}

export function scanRepository(rules: readonly WordRule[] = readRules()): Finding[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = new Set(listed.split('\0').filter((file) => isText.test(file) && !isForeign.test(file)));
  return [...files].toSorted().flatMap((file) => scanFile(file, readOrEmpty(file), rules));
}

/** A listed file may be deleted in the working tree. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function scanFile(file: string, text: string, rules: readonly WordRule[]): Finding[] {
  const inName = findWords(file, rules).map(
    ({ word, write }): Finding => ({ file, line: 1, word, write, isVisible: false }),
  );
  const isCode = /\.tsx?$/.test(file);
  const regions = isCode ? regionsOf(text) : [];
  const isVisibleProgram = isProgram.test(file) && !/\.test\.tsx?$/.test(file);
  const inText = findWords(text, rules).flatMap(({ word, write, offset }): Finding[] => {
    const found = { file, line: lineAt(text, offset), word, write };
    if (!isCode) return [{ ...found, isVisible: isProse.test(file) }];
    const region = regions.find(({ start, end }) => start <= offset && offset < end);
    if (region === undefined) return [{ ...found, isVisible: false, name: identifierAt(text, offset) }];
    // The path of a module: its file name counts.
    if (region.kind === 'string' && /^['"]\.{0,2}\//.test(text.slice(region.start, region.start + 4)))
      return [];
    // A string that is one identifier, such as the key of a type, is a name.
    const content = text.slice(region.start + 1, region.end - 1);
    if (region.kind === 'string' && /^[a-z][A-Za-z]*$/.test(content))
      return [{ ...found, isVisible: false, name: content }];
    return [{ ...found, isVisible: isVisibleProgram && region.kind === 'string' }];
  });
  return [...inName, ...inText];
}

function identifierAt(text: string, offset: number): string {
  const before = /[\w$#]*$/.exec(text.slice(Math.max(0, offset - 80), offset))?.[0] ?? '';
  return before + (/^[\w$]*/.exec(text.slice(offset))?.[0] ?? '');
}

/** `packages/kube`, `docs`, or `(root)`. */
export function areaOf(file: string): string {
  const [first = '', second = '', ...rest] = file.split('/');
  if (rest.length > 0 && first === 'packages') return `${first}/${second}`;
  return second === '' ? '(root)' : first;
}
