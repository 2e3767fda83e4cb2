/** The page of the dashboard, which the bundle carries in itself. From the sources there is none. */
import { CliError } from '../errors.ts';

declare const DASHBOARD_PAGE: Readonly<Record<string, string>> | undefined;

/** By name. */
export function pageFiles(): readonly (readonly [string, Buffer])[] {
  if (typeof DASHBOARD_PAGE === 'undefined')
    throw new CliError(
      'The page is in the bundled plugin only: node packages/cli/src/bundle-main.ts FILE writes one.',
    );
  return Object.entries(DASHBOARD_PAGE).map(
    ([name, content]) => [name, Buffer.from(content, 'utf8')] as const,
  );
}
