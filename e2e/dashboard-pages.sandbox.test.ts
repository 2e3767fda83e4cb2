/**
 * Every page of the dashboard in a browser, on a simulated Slurm: axe finds nothing in light and in dark, it fits on a telephone, and nothing
 * of what others named is run. Screens are written to `SCREENS=folder`, if that is set.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { buildPage } from '@slurm-operator/dashboard/build-page';
import {
  populate,
  sampleObjects,
  samplePlan,
  sampleTemplates,
  startDashboard,
} from '@slurm-operator/dashboard/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { checkAccessibility, checkWidth, collectErrors } from './src/browser/check-page.ts';
import { type OpenBrowser, openBrowser } from './src/browser/open-browser.ts';
import { needsRoot } from './src/needs-root.ts';

const all = [
  'see',
  'seeAllJobs',
  'submit',
  'changeJobs',
  'cancelJobs',
  'changeNodes',
  'seeConfiguration',
  'changeRollouts',
] as const;
/** Path below the cluster → what is there once it is filled. */
const pages: Readonly<Record<string, readonly [string, string]>> = {
  overview: ['', 'What is wrong now'],
  nodes: ['/nodes', 'gpu-31'],
  node: ['/nodes/gpu-31', 'new disk'],
  jobs: ['/jobs', 'train-llama'],
  job: ['/jobs/49', 'Waiting'],
  'job-runs': ['/jobs/1', 'Steps'],
  submit: ['/submit', 'Begin with a template'],
  partitions: ['/partitions', 'all'],
  accounts: ['/accounts', 'Accounts'],
  rollouts: ['/rollouts', 'at the latest'],
  timeline: ['/timeline', 'ConfigApplied'],
  configuration: ['/configuration', 'tried, and not in force'],
};
const at = '/c/slurm/slurm';
const everyPage: readonly (readonly [string, readonly [string, string]])[] = [
  ['clusters', ['/', 'slurm']],
  ['me', ['/me', 'You may']],
  ...Object.entries(pages).map(([name, [below, text]]) => [name, [`${at}${below}`, text]] as const),
];
const screens = process.env['SCREENS'];
const patience = { timeout: 60_000 };

let stage: Awaited<ReturnType<typeof startDashboard>>;
let opened: OpenBrowser;
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), `dashboard-pages-${process.pid}-`));
  await buildPage(directory);
  stage = await startDashboard({
    simulator: {},
    page: directory,
    objects: sampleObjects,
    planRollout: samplePlan,
    jobTemplates: sampleTemplates,
    grants: { alice: all, bob: all },
  });
  populate(stage.simulator);
  opened = await openBrowser();
  if (screens !== undefined) await mkdir(screens, { recursive: true });
});
after(async () => {
  await opened?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

async function open(scheme: 'light' | 'dark', width = 1280): Promise<BrowserContext> {
  const context = await opened.browser.newContext({
    baseURL: stage.origin,
    colorScheme: scheme,
    viewport: { width, height: 900 },
    locale: 'en-GB',
  });
  context.setDefaultTimeout(patience.timeout);
  return context;
}

async function logIn(context: BrowserContext, user = 'alice'): Promise<Page> {
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('Token').fill(`token-of-${user}`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  return page;
}

const shoot = async (page: Page, name: string) => {
  if (screens !== undefined) await page.screenshot({ path: join(screens, `${name}.png`), fullPage: true });
};

for (const scheme of ['light', 'dark'] as const)
  test(`every page passes axe in ${scheme}`, { ...needsRoot, timeout: 600_000 }, async () => {
    const context = await open(scheme);
    const front = await context.newPage();
    await front.goto('/');
    await front.getByLabel('Token').waitFor();
    await checkAccessibility(front, 'login');
    await shoot(front, `login-${scheme}`);
    const page = await logIn(context);
    const errors = collectErrors(page);
    for (const [name, [path, text]] of everyPage) {
      await page.goto(path);
      await page.getByRole('main').getByText(text).first().waitFor();
      await checkAccessibility(page, `${name} in ${scheme}`);
      await shoot(page, `${name}-${scheme}`);
    }
    assert.deepEqual(errors, []);
    await context.close();
  });

test('every page fits into 360 pixels', { ...needsRoot, timeout: 300_000 }, async () => {
  const context = await open('light', 360);
  const page = await logIn(context);
  for (const [name, [path, text]] of Object.entries(pages)) {
    await page.goto(`${at}${path}`);
    await page.getByRole('main').getByText(text).first().waitFor();
    await checkWidth(page, name);
    await shoot(page, `${name}-360`);
  }
  await context.close();
});

test('another user may not cancel the job, and reads why', { ...needsRoot, timeout: 120_000 }, async () => {
  const context = await open('light');
  const page = await logIn(context, 'bob');
  await page.goto(`${at}/jobs/1`);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Cancel job/ })
    .click();
  await page
    .getByRole('dialog')
    .getByText(/^1: .*Job 1 belongs to/)
    .waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('main').getByText('running').first().waitFor();
  await context.close();
});

test('a template fills the form, lines of the script are shown, and a job that could never start is named', {
  ...needsRoot,
  timeout: 120_000,
}, async () => {
  const context = await open('light');
  const page = await logIn(context);
  await page.goto(`${at}/submit`);
  await page.getByLabel('Begin with a template').selectOption('mpi');
  await page.getByText('Two nodes with MPI').waitFor();
  assert.match(await page.getByLabel('Script').inputValue(), /srun \.\/program/);
  assert.equal(await page.getByLabel('Nodes', { exact: true }).getAttribute('placeholder'), '2 (script)');
  await page.getByLabel('CPUs per task').fill('4096');
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
  await page.getByText(/has 4096 CPUs: the largest has 128/).waitFor();
  await page.getByRole('button', { name: 'Submit all the same' }).click();
  await page.waitForURL(/\/jobs\/\d+$/);
  await page.getByText('Waiting').waitFor();
  await page.getByRole('link', { name: 'Submit again' }).click();
  await page.getByText(/With what job \d+ asked for/).waitFor();
  await context.close();
});

test('a page says how old it is, and asks for a login when its session is over', {
  ...needsRoot,
  timeout: 120_000,
}, async () => {
  const context = await open('light');
  const page = await logIn(context);
  await page.goto(`${at}/nodes`);
  await page.getByRole('main').getByText('gpu-31').first().waitFor();
  await page.getByText(/Slurm was read .* ago/).waitFor();
  const other = await context.newPage();
  await other.goto('/');
  await other.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('Your session is over').waitFor();
  await page.getByLabel('Token').fill('token-of-alice');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('main').getByText('gpu-31').first().waitFor();
  assert.match(page.url(), /\/nodes$/, 'back where it was');
  await context.close();
});

/** Names as an attacker would choose them. Those that would run something set a mark. */
const hostile = [
  '<img src=x onerror="globalThis.attacked=1">',
  '</script><script>globalThis.attacked=1</script>',
  'javascript:globalThis.attacked=1',
  '"><svg onload=globalThis.attacked=1>',
  '{{constructor.constructor("globalThis.attacked=1")()}}',
];

test('what others named is text: nothing of it runs', { ...needsRoot, timeout: 300_000 }, async () => {
  await using attacked = await startDashboard({
    simulator: { nodes: 'n[0-9]' },
    page: directory,
    objects: sampleObjects,
    grants: { alice: all },
  });
  const { cluster } = attacked.simulator;
  hostile.forEach((text, index) => {
    const job = cluster.createJob({
      name: text,
      user: text,
      reason: text,
      comment: text,
      partition: text,
      held: true,
      directory: text,
    });
    job.reason = text;
    const node = cluster.node(`n${index}`);
    Object.assign(node, {
      reason: text,
      reasonSetBy: text,
      comment: text,
      features: [text],
      topology: `topo-block:${text}`,
    });
    node.flags.add('DRAIN');
    cluster.touch(node);
    cluster.touchJob(job);
  });
  const context = await opened.browser.newContext({ baseURL: attacked.origin });
  const page = await logIn(context);
  const errors = collectErrors(page);
  for (const below of [
    '',
    '/nodes',
    '/nodes/n0',
    '/jobs',
    '/jobs/1',
    '/jobs?hide=&user=%3Cimg%20src=x%20onerror=globalThis.attacked=1%3E',
    '/partitions',
    '/timeline',
    '/submit?from=1',
  ]) {
    await page.goto(`${at}${below}`);
    await page
      .getByRole('main')
      .getByText(/onerror|nodes|Overview|partition|Timeline|asked for/i)
      .first()
      .waitFor();
    assert.equal(await page.evaluate('globalThis.attacked'), undefined, below);
    assert.equal(await page.locator('main img, main script, main iframe').count(), 0, below);
  }
  // The policy of the page would stop a script that got in: none was even tried.
  assert.deepEqual(errors, []);
  await context.close();
});
