/**
 * The dashboard in a browser, on a cluster with real Slurm: people log in, see nodes and jobs change, submit, see why a job waits, cancel,
 * drain and resume; another user may not; Slurm and the operator go and come back. `SCREENS=folder` keeps what was seen.
 */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { label } from '@slurm-operator/api';
import { configMaps } from '@slurm-operator/kube';
import { nodeSets, restApis } from '@slurm-operator/operator';
import type { BrowserContext, Page } from 'playwright-core';
import { checkAccessibility, collectErrors } from './src/browser/check-page.ts';
import {
  DashboardCluster,
  nodeSetName,
  operatorNamespace,
  slurmNamespace,
} from './src/browser/dashboard-stage.ts';
import { type OpenBrowser, openBrowser } from './src/browser/open-browser.ts';
import { needsThisMachine } from './src/given/given-cluster.ts';
import { until } from './src/until.ts';

const at = `/c/${slurmNamespace}/slurm`;
const screens = process.env['SCREENS'];
const sleeper = '#!/bin/sh\nsleep 600\n';

describe('the dashboard with real Slurm', {
  ...needsThisMachine('its images and a browser are on this machine'),
  concurrency: false,
  timeout: 1_200_000,
}, () => {
  let stage: DashboardCluster;
  let opened: OpenBrowser;
  const errors: (readonly string[])[] = [];

  const shoot = async (page: Page, name: string) => {
    if (screens === undefined) return;
    await mkdir(screens, { recursive: true });
    await page.screenshot({ path: join(screens, `${name}.png`), fullPage: true });
  };

  async function logIn(name: string): Promise<Page> {
    const context: BrowserContext = await opened.browser.newContext({
      baseURL: stage.origin,
      viewport: { width: 1280, height: 860 },
      locale: 'en-GB',
    });
    context.setDefaultTimeout(45_000);
    const page = await context.newPage();
    errors.push(collectErrors(page));
    await page.goto('/');
    await page.getByLabel('Token').fill(await stage.tokenOf(name));
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    return page;
  }

  /** The number of the job that the page opened. */
  async function submit(page: Page, fields: Readonly<Record<string, string>>): Promise<string> {
    await page.goto(`${at}/submit`);
    await page.getByLabel('Script').fill(sleeper);
    for (const [field, value] of Object.entries(fields))
      await page.getByLabel(field, { exact: true }).fill(value);
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL(/\/jobs\/\d+$/);
    return page.url().split('/').at(-1) ?? '';
  }

  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const confirm = async (page: Page, name: RegExp) => {
    await page.getByRole('dialog').getByRole('button', { name }).click();
  };

  before(async () => {
    opened = await openBrowser();
    stage = await DashboardCluster.start(`dash-${process.pid}`);
  });
  after(async () => {
    await opened?.[Symbol.asyncDispose]();
    await stage?.[Symbol.asyncDispose]();
  });

  it('a user logs in with a token, and sees both nodes', async () => {
    const page = await logIn('alice');
    await page.getByRole('main').getByRole('link', { name: 'slurm' }).click();
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await row(page, 'w-0').getByText('idle').waitFor();
    await row(page, 'w-1').getByText('idle').waitFor();
    await shoot(page, 'nodes-idle');
    await page.context().close();
  });

  it('submits, sees nodes change without a reload, sees why the next job waits, and cancels', async () => {
    const page = await logIn('alice');
    const first = await submit(page, { Name: 'first', Nodes: '2', Tasks: '2' });
    await page.getByText('running').first().waitFor();
    assert.match(
      await stage.inController('squeue', '--noheader', `--jobs=${first}`, '--format=%u %j'),
      /alice first/,
    );
    const nodes = await page.context().newPage();
    await nodes.goto(`${at}/nodes`);
    await row(nodes, 'w-0')
      .getByText(/mixed|allocated/)
      .waitFor();
    // More nodes than there are: the form says so; Slurm takes it all the same, and it waits.
    await page.goto(`${at}/submit`);
    await page.getByLabel('Script').fill(sleeper);
    await page.getByLabel('Nodes', { exact: true }).fill('3');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.getByText('has 2 nodes. The job would wait').waitFor();
    await shoot(page, 'submit-checked');
    await page.getByRole('button', { name: 'Submit all the same' }).click();
    await page.waitForURL(/\/jobs\/\d+$/);
    await page.getByText('Waiting').waitFor();
    await page.getByText('Why it waits').waitFor();
    await page.getByText(/Slurm says: \w+/).waitFor();
    const why = await page.locator('.finding').innerText();
    console.log(`why it waits: ${why.replaceAll('\n', ' / ')}`);
    await shoot(page, 'job-waits');
    await page.goto(`${at}/jobs/${first}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await confirm(page, /Cancel job/);
    await page.getByText('cancelled').first().waitFor();
    // The other tab, without a reload.
    await row(nodes, 'w-0').getByText('idle').waitFor();
    await page.context().close();
  });

  it('#SBATCH lines of a template reach Slurm, and the limit can be changed', async () => {
    const lines = [
      '--nodes=2 --ntasks-per-node=1',
      '--mem-per-cpu=10 -t 30',
      '--comment="two words" -J lines',
    ];
    const script = ['#!/bin/sh', ...lines.map((line) => `#SBATCH ${line}`), 'sleep 600', ''].join('\n');
    const labels = { [label.jobTemplate]: 'slurm' };
    await stage.client.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'two-nodes', namespace: slurmNamespace, labels },
      data: { script, description: 'On both nodes' },
    });
    const page = await logIn('alice');
    // The dashboard keeps the list of templates for 15 s, and the page reads it when it is opened.
    const template = page.getByLabel('Begin with a template');
    await until('the template is offered', async () => {
      await page.goto(`${at}/submit`);
      return template.waitFor({ timeout: 3_000 }).then(
        () => true,
        () => false,
      );
    });
    await template.selectOption('two-nodes');
    await page.getByText('On both nodes').waitFor();
    await page.getByLabel('Directory').fill('/tmp');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL(/\/jobs\/\d+$/);
    await page.getByText('running').first().waitFor();
    const job = page.url().split('/').at(-1) ?? '';
    const shown = await stage.inController('scontrol', 'show', 'job', job);
    for (const part of [
      /JobName=lines/,
      /NumNodes=2/,
      /NtasksPerN:B:S:C=1:/,
      /MinMemoryCPU=10M/,
      /TimeLimit=00:30:00/,
      /Comment=two words/,
    ])
      assert.match(shown, part);
    await page.getByRole('button', { name: 'Change limit' }).click();
    await page.getByLabel(/New limit/).fill('00:10:00');
    await confirm(page, /Change the limit/);
    await page.getByText(/of 10 min/).waitFor();
    assert.match(await stage.inController('scontrol', 'show', 'job', job), /TimeLimit=00:10:00/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await confirm(page, /Cancel job/);
    await page.getByText('cancelled').first().waitFor();
    await page.context().close();
  });

  it('kubectl slurm dashboard serves the same page with the rights of who runs it', async () => {
    await using own = await stage.ownDashboard('alice');
    const context = await opened.browser.newContext({ locale: 'en-GB' });
    context.setDefaultTimeout(45_000);
    const page = await context.newPage();
    errors.push(collectErrors(page));
    await page.goto(own.link);
    await page.getByRole('link', { name: 'Nodes', exact: true }).click();
    await row(page, 'w-0').getByText('idle').waitFor();
    assert.ok(!page.url().includes('#'), 'the code is gone from the address');
    await page.goto(new URL(`${at}/submit`, own.link).href);
    await page.getByLabel('Script').fill(sleeper);
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL(/\/jobs\/\d+$/);
    await page.getByText('running').first().waitFor();
    const job = page.url().split('/').at(-1) ?? '';
    assert.match(await stage.inController('squeue', '--noheader', `--jobs=${job}`, '--format=%u'), /alice/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await confirm(page, /Cancel job/);
    await page.getByText('cancelled').first().waitFor();
    // The link works once.
    const second = await opened.browser.newContext();
    const late = await second.newPage();
    await late.goto(own.link);
    await late.getByLabel('Token').waitFor();
    await second.close();
    await context.close();
  });

  it('another user sees the job and may not cancel it', async () => {
    const page = await logIn('alice');
    const job = await submit(page, { Name: 'of-alice' });
    await page.getByText('running').first().waitFor();
    const bob = await logIn('bob');
    await bob.goto(`${at}/jobs/${job}`);
    await bob.getByRole('button', { name: 'Cancel' }).click();
    await confirm(bob, /Cancel job/);
    const refusal = bob.getByRole('dialog').getByRole('listitem');
    await refusal.waitFor().catch(async (error: unknown) => {
      console.log(`the page of bob: ${await bob.locator('body').innerText()}`);
      throw error;
    });
    assert.match(await refusal.innerText(), /belongs to alice: bob cannot end it/);
    await shoot(bob, 'bob-may-not');
    assert.match(await stage.inController('squeue', '--noheader', `--jobs=${job}`, '--format=%T'), /RUNNING/);
    await bob.goto(`${at}/nodes`);
    await row(bob, 'w-0').waitFor();
    assert.equal(await bob.getByRole('button', { name: /Drain/ }).count(), 0, 'no right, no button');
    await page.goto(`${at}/jobs/${job}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await confirm(page, /Cancel job/);
    await page.getByText('cancelled').first().waitFor();
    await bob.context().close();
    await page.context().close();
  });

  it('an administrator drains a node with a reason, and resumes it', async () => {
    const page = await logIn('root');
    await page.goto(`${at}/nodes`);
    await page.getByLabel('choose w-1').check();
    await page.getByRole('button', { name: /^Drain/ }).click();
    await page
      .getByRole('dialog')
      .getByLabel(/Reason/)
      .fill('new disk');
    await confirm(page, /^Drain/);
    await row(page, 'w-1')
      .getByText(/drained/)
      .waitFor();
    await row(page, 'w-1').getByText('new disk (root)').waitFor();
    assert.match(await stage.inController('scontrol', 'show', 'node', 'w-1'), /Reason=new disk/);
    await shoot(page, 'drained');
    await page.getByLabel('choose w-1').check();
    await page.getByRole('button', { name: /^Resume/ }).click();
    await confirm(page, /^Resume/);
    await row(page, 'w-1').getByText('idle').waitFor();
    await page.context().close();
  });

  it('a rollout is seen, paused and resumed', async () => {
    const page = await logIn('root');
    await page.goto(`${at}/rollouts`);
    await page.getByText('complete').waitFor();
    // The rollout waits for it on one of the two workers.
    const job = await submit(page, { Name: 'waited-for', 'Time limit, such as 01:30:00': '20' });
    await page.getByText('running').first().waitFor();
    await page.goto(`${at}/rollouts`);
    const template = { metadata: { annotations: { rolled: 'yes' } } };
    await stage.client.mergePatch(
      nodeSets,
      { namespace: slurmNamespace, name: nodeSetName },
      { spec: { template } },
    );
    await page.getByText('rolling out').waitFor();
    await page.getByText('at the latest').waitFor();
    await page.getByText(`job ${job} of root`).waitFor();
    await shoot(page, 'rollout-plan');
    await page.getByRole('button', { name: /^Pause/ }).click();
    await confirm(page, /^Pause/);
    await page.getByText('paused', { exact: true }).waitFor();
    await shoot(page, 'rollout-paused');
    await page.getByRole('button', { name: /^Resume/ }).click();
    await confirm(page, /^Resume/);
    await stage.inController('scancel', job);
    await page.getByText('complete').waitFor({ timeout: 180_000 });
    await page.getByText('at the latest').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('Slurm goes: the page keeps what it has and says how old it is; Slurm comes back, and the page is live again', async () => {
    const page = await logIn('alice');
    await page.goto(`${at}/nodes`);
    await row(page, 'w-0').waitFor();
    const api = { namespace: slurmNamespace, name: 'slurm' };
    await stage.client.mergePatch(restApis, api, { spec: { replicas: 0 } });
    await page.getByText('Slurm is unknown since').waitFor({ timeout: 180_000 });
    await row(page, 'w-0').waitFor();
    await shoot(page, 'slurm-gone');
    await checkAccessibility(page, 'while Slurm is gone');
    await stage.client.mergePatch(restApis, api, { spec: { replicas: 1 } });
    await page.getByText('Slurm is unknown since').waitFor({ state: 'detached', timeout: 180_000 });
    await page.context().close();
  });

  it('the operator goes: the page stays live; it comes back, and people act again', async () => {
    const page = await logIn('alice');
    await stage.scale(operatorNamespace, 'slurm-operator', 0);
    await page.goto(`${at}/nodes`);
    await row(page, 'w-0').waitFor();
    const job = (
      await stage.inController(
        'sbatch',
        '--parsable',
        '--chdir=/tmp',
        '--output=/dev/null',
        '--nodes=2',
        '--wrap=sleep 600',
      )
    ).trim();
    await row(page, 'w-0')
      .getByText(/mixed|allocated/)
      .waitFor();
    await stage.scale(operatorNamespace, 'slurm-operator', 2);
    await stage.inController('scancel', job);
    await row(page, 'w-0').getByText('idle').waitFor();
    await page.context().close();
  });

  it('every page passes axe with what is there', async () => {
    const page = await logIn('root');
    for (const below of [
      '',
      '/nodes',
      '/nodes/w-0',
      '/jobs',
      '/submit',
      '/partitions',
      '/rollouts',
      '/timeline',
      '/configuration',
    ])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto(`${at}${below}`);
        await page.getByRole('main').getByRole('heading').first().waitFor();
        await checkAccessibility(page, `${below} in ${colorScheme}`);
        await shoot(page, `real${below.replaceAll('/', '-')}-${colorScheme}`);
      }
    await page.context().close();
    // A refused or unreachable answer is logged by the browser itself.
    assert.deepEqual(
      errors.flat().filter((line) => !line.includes('Failed to load resource')),
      [],
    );
  });
});
