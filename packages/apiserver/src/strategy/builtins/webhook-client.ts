/** Where a webhook is reached: the rules for its URL or Service, the same for admission and conversion. */

import { dnsSubdomain } from '@slurm-operator/kubernetes-values';
import type { FieldFault } from '../../api/errors.ts';
import { invalidValue, required } from '../../api/fault.ts';

const format = 'desired format: https://host[/path]';

export interface WebhookService {
  readonly name?: string;
  readonly namespace?: string;
  readonly path?: string;
  readonly port?: number;
}

export function validateWebhookUrl(text: string, field: string): FieldFault[] {
  const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(
    text,
  );
  if (!parts || /[\s\p{Cc}]/u.test(text)) return [required(field, `url must be a valid URL: ${format}`)];
  const [, scheme = '', authority = '', , query = '', fragment = ''] = parts;
  const at = authority.lastIndexOf('@');
  const faults: FieldFault[] = [];
  if (scheme.toLowerCase() !== 'https')
    faults.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme; ${format}`));
  if (authority.slice(at + 1) === '')
    faults.push(invalidValue(field, '', `host must be specified; ${format}`));
  if (at >= 0)
    faults.push(invalidValue(field, authority.slice(0, at), 'user information is not permitted in the URL'));
  if (fragment !== '') faults.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') faults.push(invalidValue(field, query, 'query parameters are not permitted in the URL'));
  return faults;
}

export function validateWebhookService(
  { name, namespace, path, port }: WebhookService,
  at: string,
): FieldFault[] {
  const faults: FieldFault[] = [];
  if (!name) faults.push(required(`${at}.name`, 'service name is required'));
  if (!namespace) faults.push(required(`${at}.namespace`, 'service namespace is required'));
  if (port !== undefined && (port < 1 || port > 65535))
    faults.push(
      invalidValue(`${at}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'),
    );
  return [...faults, ...validatePath(path ?? '', `${at}.path`)];
}

function validatePath(path: string, field: string): FieldFault[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')];
  const faults: FieldFault[] = [];
  if (!path.startsWith('/')) faults.push(invalidValue(field, path, "must start with a '/'"));
  for (const [index, segment] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (segment === '') faults.push(invalidValue(field, path, `segment[${index}] may not be empty`));
    else
      for (const text of dnsSubdomain(segment))
        faults.push(invalidValue(field, path, `segment[${index}]: ${text}`));
  }
  return faults;
}
