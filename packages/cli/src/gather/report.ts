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
/** Tokens and keys may stand in log lines, comments and messages too. */
const secretTexts = [
  /eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // Also JobCompPass, DB_PASSWORD, "clientSecret":, AWS_SECRET_ACCESS_KEY and the like.
  /([\w-]*(?:pass|password|passwd|passphrase|pwd|secret|token|authtok|credentials?|(?:api|access|private|secret)[_-]?key))(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;]+)/gi,
  /(:\/\/[^\s/:@]+:)[^\s/]+@/g,
  /\b([Bb]earer|Basic)\s+[\w.~+/-]{8,}=*/g,
  // In a command of a shell.
  /(--[\w-]*(?:pass|password|passwd|passphrase|secret|token|key))[ \t]+[^\s-]\S*/gi,
];

export function redactText(text: string): string {
  return secretTexts.reduce(
    (result, pattern, index) =>
      result.replace(pattern, (_whole: string, ...groups: unknown[]) => {
        if (index === 2) return `${String(groups[0])}${String(groups[1])}${redacted}`;
        if (index === 3) return `${String(groups[0])}${redacted}@`;
        return index === 5 ? `${String(groups[0])} ${redacted}` : redacted;
      }),
    text,
  );
}

/** The word before a secret in a list of arguments. */
const isSecretFlag = (word: unknown): boolean =>
  typeof word === 'string' && /^--?[\w-]*(pass|password|secret|token|key)$/i.test(word);

export function redact(value: unknown, key = ''): unknown {
  if (value instanceof Map) return redact(Object.fromEntries(value), key);
  if (value instanceof Set) return redact([...value], key);
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value))
    return secretFields.test(key)
      ? redacted
      : value.map((each, at) => (isSecretFlag(value[at - 1]) ? redacted : redact(each)));
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
