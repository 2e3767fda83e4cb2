/** Image names as people write them, in the one full form: host, path, tag or digest. */
const pattern =
  /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

/** The host that a name without one means. */
const defaultHost = ['docker', 'io'].join('.');

/** Undefined when the text is no image name at all. */
export function normalizeImageName(text: string): string | undefined {
  if (!pattern.test(text)) return undefined;
  const digest = text.includes('@') ? text.slice(text.indexOf('@')) : '';
  const bare = digest === '' ? text : text.slice(0, -digest.length);
  const tagAt = bare.indexOf(':', bare.lastIndexOf('/') + 1);
  const tag = tagAt < 0 ? (digest === '' ? ':latest' : '') : bare.slice(tagAt);
  const path = tagAt < 0 ? bare : bare.slice(0, tagAt);
  const first = path.split('/')[0] ?? '';
  const hasHost = path.includes('/') && (first.includes('.') || first.includes(':') || first === 'localhost');
  const full = hasHost ? path : `${defaultHost}/${path.includes('/') ? path : `library/${path}`}`;
  return full + tag + digest;
}
