/** Finds listed words in a text: in prose, and as parts of camelCase, kebab-case and UPPER_CASE names. Pure. */

export interface WordRule {
  /** A word or phrase of lower-case words. */
  readonly words: readonly string[];
  /** What to write instead. */
  readonly write: string;
  /** Text around a match that makes it legitimate, such as a user name of Linux. */
  readonly allow?: readonly string[];
}

export interface Found {
  readonly word: string;
  readonly write: string;
  readonly offset: number;
}

interface Token {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A phrase may be broken over lines of a comment or of Markdown. */
const between = /^(?:[\s_-]|\*|\/\/|#|>)*$/;

export function findWords(text: string, rules: readonly WordRule[]): Found[] {
  const tokens = tokensOf(text);
  const phrases = phrasesOf(rules);
  const found: Found[] = [];
  for (const [index, token] of tokens.entries()) {
    for (const { parts, word, rule } of phrases.get(token.word) ?? []) {
      if (!parts.every((part, step) => follows(text, tokens, index + step, part, step))) continue;
      const last = tokens[index + parts.length - 1] ?? token;
      if (isAllowed(text, token.start, last.end, rule.allow ?? [])) continue;
      found.push({ word, write: rule.write, offset: token.start });
    }
  }
  return found;
}

function tokensOf(text: string): Token[] {
  return [...text.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)].map((match) => ({
    word: match[0].toLowerCase(),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

interface Phrase {
  readonly parts: readonly string[];
  readonly word: string;
  readonly rule: WordRule;
}

/** By first word. */
function phrasesOf(rules: readonly WordRule[]): Map<string, Phrase[]> {
  const phrases = rules.flatMap((rule) =>
    rule.words.map((word): Phrase => ({ parts: word.split(' '), word, rule })),
  );
  return Map.groupBy(phrases, ({ parts }) => parts[0] ?? '');
}

function follows(text: string, tokens: readonly Token[], index: number, part: string, step: number): boolean {
  const token = tokens[index];
  if (token?.word !== part) return false;
  const before = tokens[index - 1];
  return step === 0 || (before !== undefined && between.test(text.slice(before.end, token.start)));
}

function isAllowed(text: string, start: number, end: number, allow: readonly string[]): boolean {
  return allow.some((legitimate) => {
    const around = text.slice(Math.max(0, start - legitimate.length), end + legitimate.length);
    return around.includes(legitimate);
  });
}

/** `line` of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
