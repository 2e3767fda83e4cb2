/** What the documentation says about the code is true: reasons exist, links are valid. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { apiVersion, reasons } from '@slurm-operator/api';

const pages = globSync([
  'docs/**/*.md',
  '*.md',
  'packages/*/README.md',
  '{images,localcluster,demo,e2e}/README.md',
]);
const read = (file: string) => readFileSync(file, 'utf8');

/** The first cell of every row of the tables below the heading `By reason`. */
function reasonRows(page: string): string[] {
  const tables = page.slice(page.indexOf('## By reason'));
  return [...tables.matchAll(/^\| `([A-Za-z]+)` \|/gm)].map((match) => match[1] ?? '');
}

test('every reason has one row in docs/troubleshooting.md, and every row is a reason', () => {
  assert.deepEqual(reasonRows(read('docs/troubleshooting.md')).toSorted(), Object.keys(reasons).toSorted());
});

test('reasons that the pages mention exist', () => {
  const words = new Set(Object.keys(reasons));
  const symptoms = read('docs/troubleshooting.md').split('## By reason')[0] ?? '';
  const [, table = ''] = symptoms.split('## By symptom');
  const named = [...table.matchAll(/`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/g)].map((match) => match[1] ?? '');
  assert.ok(named.length > 10);
  assert.deepEqual(
    named.filter((word) => !words.has(word)),
    [],
  );
});

const sources = (pattern: string): string =>
  globSync(pattern, { exclude: ['**/*.test.ts'] })
    .map(read)
    .join('\n');

test('every reason is one that the operator gives', () => {
  const code = sources('packages/operator/src/**/*.ts');
  const never = Object.keys(reasons).filter((reason) => !code.includes(`'${reason}'`));
  assert.deepEqual(never, []);
});

test('docs/operations.md lists every reason of events, and no other', () => {
  const [, section = ''] = read('docs/operations.md').split('## Events\n');
  const listed = [...(section.split('\n## ')[0] ?? '').matchAll(/`([A-Z][A-Za-z]+)`/g)].map(
    ([, name]) => name,
  );
  const places = ['kinds/nodeset/events', 'kinds/controller/{report,plan/config-hold}', 'disruption/setup'];
  const code = sources(
    `packages/operator/src/{${[...places, 'framework/steps', 'kinds/loginset/reconciler'].join()}}.ts`,
  );
  const given = [...code.matchAll(/'([A-Z][a-z]+(?:[A-Z][a-z]+)+|Offered|Sleeping)'/g)].map(
    ([, name]) => name,
  );
  assert.deepEqual(
    // A kind and a deletion policy.
    [...new Set(given)].filter((name) => !['NodeSet', 'CancelPending', ...listed].includes(name)),
    [],
  );
  assert.deepEqual(
    listed.filter((name) => !code.includes(`'${name}'`)),
    [],
  );
});

/** What looks like a label, an annotation or a metric of ours, and is in no source. The cluster of all examples is called slurm. */
function unknownNames(text: string, code: string): string[] {
  const keys = [...text.matchAll(/(?:[a-z]+\.)?slinky\.slurm\.net\/[a-z0-9-]+/g)]
    .map(([key]) => key)
    .filter((key) => key !== apiVersion && !key.endsWith('/slurm'));
  const metrics = [...text.matchAll(/\bslurm_operator_[a-z_]+[a-z]/g)].map(([metric]) =>
    // The series of a histogram.
    metric.replace(/_bucket$/, ''),
  );
  return [...new Set([...keys, ...metrics])].filter(
    (name) =>
      !code.includes(`'${name}'`) && !code.includes(`'${name.replace('slurm_operator_nodeset_', '')}'`),
  );
}

test('labels, annotations and metrics that the pages name exist', () => {
  const code = sources('{packages/api,packages/operator,demo,e2e}/src/**/*.ts');
  const found = pages.flatMap((page) => unknownNames(read(page), code).map((name) => `${page}: ${name}`));
  assert.deepEqual(found, []);
  const wrong =
    'nodeset.slinky.slurm.net/pod-cordn and slurm_operator_nodeset_desird, not controller.slinky.slurm.net/slurm';
  assert.equal(unknownNames(wrong, code).length, 2, 'finds planted errors');
});

/** As GitHub makes anchors of headings. */
const anchor = (heading: string) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Links in code are not links. */
const prose = (text: string) => text.replaceAll(/^```.*?^```/gms, '').replaceAll(/`[^`\n]*`/g, '');

function brokenLinks(file: string, text: string): string[] {
  const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', part] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(target)) return true;
      if (part === undefined) return false;
      const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map((match) => anchor(match[1] ?? ''));
      return !headings.includes(part);
    })
    .map((link) => `${file}: ${link}`);
}

test('the traces of docs/architecture.md name files that exist', () => {
  const [, section = ''] = read('docs/architecture.md').split('### Two changes, file by file\n');
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => /^\| [a-z]/.test(line));
  const named = rows.flatMap((row) =>
    [...row.matchAll(/`([a-z/-]+)(?:\.ts)?`/g)].map(([, name]) => name ?? ''),
  );
  assert.ok(named.length > 40);
  const files = globSync('packages/operator/src/{kinds/{nodeset,controller},slurm-config,framework}/**/*.ts');
  const isThere = (name: string) =>
    files.some((file) => file.includes(`/${name}.ts`) || file.includes(`/${name}/`));
  assert.deepEqual(
    named.filter((name) => !isThere(name)),
    [],
  );
});

test('files of the sources that the pages name exist', () => {
  const all = globSync('{packages,localcluster,images,charts,demo,e2e,tools,docs}/**/*.{ts,tsx}', {
    exclude: ['**/node_modules/**'],
  });
  const named = new Map(all.map((file) => [basename(file), [] as string[]]));
  for (const file of all) named.get(basename(file))?.push(`/${file}`);
  const isThere = (name: string) =>
    named.get(basename(name))?.some((file) => file.endsWith(`/${name}`)) === true;
  const missing = pages.flatMap((page) => {
    // What was before is history; `x.test.ts` is a pattern.
    const [text = ''] = read(page).split('## Two changes, before');
    const names = [...text.matchAll(/`([\w/-][\w./-]*\.tsx?)`/g)].map(([, name]) => name ?? '');
    return names.filter((name) => !name.startsWith('x.') && !isThere(name)).map((name) => `${page}: ${name}`);
  });
  assert.deepEqual(missing, []);
});

test('links are valid', () => {
  assert.ok(pages.length > 20);
  assert.deepEqual(
    pages.flatMap((page) => brokenLinks(page, read(page))),
    [],
  );
  assert.equal(
    brokenLinks('docs/README.md', '[a](nowhere.md) [b](faq.md#no-such-part)').length,
    2,
    'finds planted errors',
  );
});

test('every edit of the guide’s example is documented with its reason', () => {
  const lines = JSON.parse(read('e2e/testdata/example/kubectl-lines.json')) as {
    line: string;
    instead?: string;
    because?: string;
  }[];
  const page = read('docs/example.md');
  for (const { line, instead, because } of lines) {
    if (instead === undefined) continue;
    assert.ok(because !== undefined && because !== '', `${line} is edited without a reason`);
    assert.ok(page.includes(line.replaceAll('|', '\\|')), `docs/example.md does not contain: ${line}`);
  }
});
