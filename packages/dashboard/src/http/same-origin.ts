/** Whether a request that changes something was made by this page. Pure: headers in, a refusal out. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Browsers send `Sec-Fetch-Site` with every request and `Origin` with every write, and no script can change them. Both are
 * checked, because a proxy may drop one; a request with neither did not come from a browser and has no cookie to steal, but
 * it is refused as well.
 */
export function crossSiteRefusal(headers: IncomingHttpHeaders, hosts: readonly string[]): string | undefined {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return `a ${site} request may change nothing here`;
  const { origin } = headers;
  if (origin === undefined)
    return site === undefined ? 'a write needs the header Origin or Sec-Fetch-Site' : undefined;
  return hosts.includes(hostOf(origin) ?? '')
    ? undefined
    : 'the page of another origin may change nothing here';
}

/** JSON only: a form cannot send it across sites without asking first. */
export function contentTypeRefusal(headers: IncomingHttpHeaders): string | undefined {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  return type === 'application/json' ? undefined : 'the body must be application/json';
}

/**
 * A name that resolves to this server but is not its own: an attacker's page whose name changed its address (DNS rebinding).
 */
export function hostRefusal(headers: IncomingHttpHeaders, hosts: readonly string[]): string | undefined {
  return hosts.includes((headers.host ?? '').toLowerCase()) ? undefined : 'this server has another name';
}

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host.toLowerCase();
  } catch {
    return undefined;
  }
}
