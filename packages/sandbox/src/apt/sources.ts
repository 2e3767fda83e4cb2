/** Reads apt's two formats of package sources: one line per source, and deb822 stanzas. Pure. */

export interface AptSource {
  readonly uri: string;
  readonly suites: readonly string[];
  readonly components: readonly string[];
  /** Keyring files or fingerprints, as the source names them; empty when apt's trusted keys decide. */
  readonly signedBy: readonly string[];
}

/** Sources of binary packages in a one-line file (`/etc/apt/sources.list`, `*.list`). */
export function parseOneLineSources(text: string): AptSource[] {
  const found: AptSource[] = [];
  for (const raw of text.split('\n')) {
    const line = raw.replace(/#.*$/, '').trim();
    const match = /^deb\s+(?:\[(?<options>[^\]]*)\]\s+)?(?<uri>\S+)\s+(?<suite>\S+)(?<components>.*)$/.exec(
      line,
    );
    if (match?.groups === undefined) continue;
    const { options = '', uri = '', suite = '', components = '' } = match.groups;
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1];
    found.push({
      uri: trimSlash(uri),
      suites: [suite],
      components: words(components),
      signedBy: signedBy === undefined ? [] : signedBy.split(','),
    });
  }
  return found;
}

/** Sources of binary packages in a deb822 file (`*.sources`). A disabled stanza is left out. */
export function parseDeb822Sources(text: string): AptSource[] {
  const found: AptSource[] = [];
  for (const stanza of text.split(/\n[ \t]*\n/)) {
    const fields = new Map<string, string>();
    let last = '';
    for (const line of stanza.split('\n')) {
      if (line.startsWith('#')) continue;
      const field = /^(?<name>[A-Za-z-]+):(?<value>.*)$/.exec(line)?.groups;
      if (field !== undefined) {
        last = (field['name'] ?? '').toLowerCase();
        fields.set(last, (field['value'] ?? '').trim());
      } else if (/^[ \t]/.test(line) && last !== '') {
        fields.set(last, `${fields.get(last) ?? ''}\n${line.trim()}`.trim());
      }
    }
    if (!words(fields.get('types') ?? '').includes('deb')) continue;
    if (/^(no|false|0|off)$/i.test(fields.get('enabled') ?? 'yes')) continue;
    const signedBy = fields.get('signed-by') ?? '';
    for (const uri of words(fields.get('uris') ?? ''))
      found.push({
        uri: trimSlash(uri),
        suites: words(fields.get('suites') ?? ''),
        components: words(fields.get('components') ?? ''),
        // A key written into the stanza itself cannot be named by path; apt's trusted keys decide then.
        signedBy: signedBy.includes('BEGIN PGP') ? [] : words(signedBy),
      });
  }
  return found;
}

/**
 * The source that serves Debian's base archive: the one whose suites include a plain release name. Security,
 * updates and backports archives are something else, and so are other vendors' repositories.
 */
export function baseArchive(sources: readonly AptSource[], codename: string): AptSource | undefined {
  const plain = (suite: string) =>
    suite === codename || /^(old)*stable$|^testing$|^unstable$|^sid$/.test(suite);
  const candidates = sources.filter(
    (source) => source.components.includes('main') && source.suites.some(plain),
  );
  return candidates.find((source) => source.uri.endsWith('/debian')) ?? candidates[0];
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function trimSlash(uri: string): string {
  return uri.replace(/\/+$/, '');
}
