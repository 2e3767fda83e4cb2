/** What every page of the dashboard must keep: axe finds nothing, nothing is written to the console, and it fits on a telephone. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Throws with what axe finds. The page's own policy allows no foreign script, so axe comes through the debugger. */
export async function checkAccessibility(page: Page, what: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: await readFile(axe, 'utf8') });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ${JSON.stringify(standards)} }).then(({ violations }) => JSON.stringify(violations))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  const found = JSON.parse(String(result.value)) as readonly Violation[];
  const lines = found.flatMap(({ id, help, nodes }) => [
    `${id}: ${help}`,
    ...nodes
      .slice(0, 4)
      .map(
        ({ html, failureSummary = '' }) =>
          `   ${html.slice(0, 160)}\n   ${failureSummary.replaceAll('\n', ' ')}`,
      ),
  ]);
  assert.deepEqual(lines, [], `${what}: axe finds nothing`);
}

/** Nothing beside tables, which scroll on their own, is wider than the window. */
export async function checkWidth(page: Page, what: string): Promise<void> {
  const { inner, scroll } = (await page.evaluate(
    '({ inner: innerWidth, scroll: document.documentElement.scrollWidth })',
  )) as { readonly inner: number; readonly scroll: number }; // what the expression makes
  assert.ok(scroll <= inner, `${what}: ${scroll} pixels wide in a window of ${inner}`);
}

/** Errors of a page: exceptions, refused by the policy, failed requests of its own files. */
export function collectErrors(page: Page): readonly string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(`exception: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`console: ${message.text()}`);
  });
  return errors;
}
