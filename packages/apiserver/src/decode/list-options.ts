/** The query options of lists and watches, checked as the real server checks them. */

import { ApiError, badRequest, type FieldFault, invalid } from '../api/errors.ts';
import { forbiddenField, notSupported } from '../api/fault.ts';
import { isTrue, wholeNumber } from '../api/request-info.ts';

export interface ListOptions {
  /** '' when not given. */
  readonly resourceVersion: string;
  readonly match: '' | 'Exact' | 'NotOlderThan';
  /** 0: no pages. */
  readonly limit: number;
  readonly continueToken: string;
}

export function listOptions(query: URLSearchParams): ListOptions {
  const limit = wholeNumber(query, 'limit');
  wholeNumber(query, 'timeoutSeconds');
  const resourceVersion = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const continueToken = query.get('continue') ?? '';
  const faults: FieldFault[] = [];
  const refuse = (detail: string) => faults.push(forbiddenField('resourceVersionMatch', detail));
  if (match !== '') {
    if (resourceVersion === '')
      refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (continueToken !== '') refuse('resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan')
      faults.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === '0')
      refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (query.has('sendInitialEvents'))
    faults.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', faults);
  const fault = versionFault(resourceVersion);
  if (fault !== undefined) throw badRequest(`invalid resource version: ${fault}`);
  return {
    resourceVersion,
    match: match as ListOptions['match'],
    limit: Math.max(0, limit),
    continueToken,
  };
}

export interface WatchOptions {
  readonly resourceVersion: string;
  readonly sendInitialEvents: boolean;
  readonly bookmarks: boolean;
  /** 0: as long as the server likes. */
  readonly timeoutSeconds: number;
}

export function watchOptions(query: URLSearchParams): WatchOptions {
  const timeoutSeconds = wholeNumber(query, 'timeoutSeconds');
  wholeNumber(query, 'limit');
  const resourceVersion = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const faults: FieldFault[] = [];
  if (query.has('sendInitialEvents')) {
    if (match !== 'NotOlderThan')
      faults.push(
        forbiddenField(
          'resourceVersionMatch',
          'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
        ),
      );
    if (match !== '' && match !== 'NotOlderThan')
      faults.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  } else if (match !== '')
    faults.push(
      forbiddenField(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', faults);
  const fault = versionFault(resourceVersion);
  if (fault !== undefined) throw new ApiError(500, '', fault);
  return {
    resourceVersion,
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds: Math.max(0, timeoutSeconds),
  };
}

export function versionFault(resourceVersion: string): string | undefined {
  if (/^\d*$/.test(resourceVersion)) return undefined;
  const shown = JSON.stringify(resourceVersion);
  return `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`;
}
