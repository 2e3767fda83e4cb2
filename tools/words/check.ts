/**
 * The word check of `make check`: fails on a listed word that occurs more often than committed, with its place and what to write
 * instead. `--counts` prints a table, `--list PATH` every finding below a path, `--write` commits lower counts, `--accept` also
 * higher ones (only after the list grew).
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { table } from '../targets/terminal.ts';
import { type Counts, countFindings, risenFindings, total } from './ratchet.ts';
import { areaOf, type Finding, scanRepository } from './scan-repository.ts';

const countsFile = 'tools/words/counts.json';
/** How far the committed counts may be above the counted ones. */
const toleratedStale = 25;
const [option, path = ''] = process.argv.slice(2);
const findings = scanRepository();
const counts = countFindings(findings);
const text = `${JSON.stringify(counts, null, 2)}\n`;
const committed = readFileSync(countsFile, 'utf8');
const describe = ({ file, line, word, write }: Finding) => `${file}:${line}: "${word}": write ${write}`;

if (option === '--counts') printTable();
else if (option === '--list')
  for (const finding of findings.filter(({ file }) => file.startsWith(path)))
    console.log(`${describe(finding)}${finding.isVisible ? ' (user-visible)' : ''}`);
else if (option === '--accept') writeFileSync(countsFile, text);
else if (isLower() && option === '--write') writeFileSync(countsFile, text);

function sum(all: Counts): number {
  return Object.values(all).reduce((before, words) => before + total(words), 0);
}

function isLower(): boolean {
  const risen = risenFindings(findings, JSON.parse(committed) as Counts);
  for (const finding of risen) console.error(describe(finding));
  if (risen.length > 0) {
    console.error(`These words occur more often than ${countsFile} allows: rewrite as many as were added.`);
    process.exitCode = 1;
  } else if (committed !== text && option === undefined) {
    console.log(`${countsFile} is out of date: run \`node tools/words/check.ts --write\` and commit it.`);
    // A few are tolerated, so that parallel changes that each remove a word do not break each other.
    if (sum(JSON.parse(committed) as Counts) - sum(counts) > toleratedStale) process.exitCode = 1;
  }
  const visible = findings.filter(({ isVisible }) => isVisible).length;
  console.log(`${visible} listed words in user-visible text, ${sum(counts) - visible} elsewhere`);
  return risen.length === 0;
}

function printTable(): void {
  const areas = new Set(findings.map(({ file }) => areaOf(file)));
  const rows = [...areas]
    .toSorted()
    .map((name) => [name, total(counts[`visible ${name}`]), total(counts[name])]);
  const { head, lines } = table(['area', 'user-visible', 'other'], rows);
  console.log([head, ...lines].join('\n'));
}
