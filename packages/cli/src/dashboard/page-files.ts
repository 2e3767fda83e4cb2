/** The page of the dashboard, which the bundle carries in itself. From the sources there is none. */
import { CliError } from '../errors.ts';

declare const DASHBOARD_PAGE: (() => readonly (readonly [string, Buffer])[]) | undefined;

/** By name. */
export function pageFiles(): readonly (readonly [string, Buffer])[] {
  if (typeof DASHBOARD_PAGE === 'undefined')
    throw new CliError(
      'The page is in the bundled plugin only: node packages/cli/src/bundle-main.ts FILE writes one.',
    );
  return DASHBOARD_PAGE();
}
