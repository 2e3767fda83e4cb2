/** The report of `doctor --report`: all evidence, without secrets. */
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, Diagnosis, EvidenceSet } from '@slurm-operator/advice';

const redacted = '<left out>';
/** Values of these fields are never written, whatever object they are in. */
const secretFields =
  /^(env|envFrom|data|stringData|binaryData|managedFields|token|password|secret|authorizedKeys|rootSshAuthorizedKeys|extraSshdConfig)$/i;
const secretAnnotations = /last-applied-configuration/;
/** Tokens and keys may stand in log lines, comments and messages too: each with what is written in its place. */
const secretTexts: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, redacted],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, redacted],
  // Also JobCompPass, DB_PASSWORD, "clientSecret":, AWS_SECRET_ACCESS_KEY and the like.
  [
    /([\w-]*(?:pass|password|passwd|passphrase|pwd|secret|token|authtok|credentials?|(?:api|access|private|secret)[_-]?key))(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;]+)/gi,
    `$1$2${redacted}`,
  ],
  // Environment variables such as LICENSE_KEY. A path is no secret.
  [/\b([A-Z][A-Z0-9_]*_KEY)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|(?!\/)[^\s,;]+)/g, `$1$2${redacted}`],
  [/(:\/\/[^\s/:@]+:)[^\s/]+@/g, `$1${redacted}@`],
  [/\b(?:[Bb]earer|Basic)\s+[\w.~+/-]{8,}=*/g, redacted],
  // In a command of a shell.
  [/(--[\w-]*(?:pass|password|passwd|passphrase|secret|token|key))[ \t]+[^\s-]\S*/gi, `$1 ${redacted}`],
  // curl -u alice:…
  [/((?:^|\s)(?:-u|--user|--proxy-user|-U)[ \t=]*["']?[^\s:"']+:)[^\s"']+/g, `$1${redacted}`],
  // -p is a partition elsewhere.
  [/(\b(?:mysql|mariadb)[\w-]*\b[^\n|;&]*?\s-p)(?!ort)[^\s-][^\s]*/g, `$1${redacted}`],
  [/(\bsshpass\s+-p[ \t]*)\S+/g, `$1${redacted}`],
  [/(\bldap\w+\b[^\n|;&]*?\s-w[ \t]*)[^\s-]\S*/g, `$1${redacted}`],
  [/(\bredis-cli\b[^\n|;&]*?\s-a[ \t]*)[^\s-]\S*/g, `$1${redacted}`],
];

export const redactText = (text: string): string =>
  secretTexts.reduce((result, [pattern, instead]) => result.replace(pattern, instead), text);

/** In a list of arguments a secret may be a word of its own: it is read with the program and the word before it. */
const redactWords = (words: readonly unknown[]): readonly unknown[] =>
  words.map((word, at) => {
    if (isSecretFlag(words[at - 1])) return redacted;
    if (typeof word !== 'string') return redact(word);
    const alone = redactText(word);
    const before = [...words.slice(0, Math.min(1, at)), ...words.slice(Math.max(1, at - 1), at)].join(' ');
    if (alone !== word || at === 0 || redactText(before) !== before) return alone;
    const line = `${before} ${word}`;
    return redactText(line) === line ? word : redacted;
  });

/** The word before a secret in a list of arguments. */
const isSecretFlag = (word: unknown): boolean =>
  typeof word === 'string' && /^--?[\w-]*(pass|password|secret|token|key)$/i.test(word);

export function redact(value: unknown, key = ''): unknown {
  if (value instanceof Map) return redact(Object.fromEntries(value), key);
  if (value instanceof Set) return redact([...value], key);
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return secretFields.test(key) ? redacted : redactWords(value);
  if (typeof value !== 'object' || value === null) return value;
  if (secretFields.test(key)) return redacted;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      secretAnnotations.test(name) || (secretFields.test(name) && typeof each === 'string')
        ? redacted
        : redact(each, name),
    ]),
  );
}

export async function writeReport(
  file: string,
  content: { readonly evidence: EvidenceSet; readonly diagnosis: Diagnosis; readonly context: Context },
): Promise<void> {
  const text = JSON.stringify(
    redact({ apiVersion: 'cli.slinky.slurm.net/v1', kind: 'Report', ...content }),
    undefined,
    1,
  );
  await writeFile(file, await promisify(gzip)(text), { mode: 0o600 });
}
