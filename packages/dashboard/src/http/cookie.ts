/** The session cookie. The prefix `__Host-` makes the browser insist on TLS and on this very host; on loopback, without TLS, there is none. */
export interface CookieOptions {
  readonly secure: boolean;
}

const name = (secure: boolean) => (secure ? '__Host-session' : 'session');

export function sessionCookie(id: string, { secure }: CookieOptions): string {
  return `${name(secure)}=${id}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

export function endedCookie({ secure }: CookieOptions): string {
  return `${name(secure)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0${secure ? '; Secure' : ''}`;
}

/** Only the first one of that name: a second could have been planted by a neighbouring host. */
export function readSessionCookie(header: string | undefined, { secure }: CookieOptions): string | undefined {
  const wanted = name(secure);
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === wanted) {
      const value = pair.slice(at + 1).trim();
      return /^[\w-]{43}$/.test(value) ? value : undefined;
    }
  }
  return undefined;
}
