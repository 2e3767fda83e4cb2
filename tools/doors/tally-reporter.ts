/**
 * A node:test reporter for the doors: a line per file, failures in full, skipped tests by name, and the
 * totals as JSON in the file that TALLY_FILE names, so that several tiers can be added up.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { dim, duration, green, red, yellow } from './terminal.ts';

export interface Tally {
  passed: number;
  failed: number;
  skipped: string[];
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const tally: Tally = { passed: 0, failed: 0, skipped: [] };
  for await (const event of source) {
    if (event.type === 'test:pass' || event.type === 'test:fail') {
      const { data } = event;
      if (data.details.type === 'suite') continue;
      // With process isolation each file is itself reported as a test; only what is inside it counts.
      const isFile = data.nesting === 0 && data.name.endsWith('.ts');
      if (isFile && event.type === 'test:pass') {
        yield `  ${green('✔')} ${relative(process.cwd(), data.name)} ${dim(duration(data.details.duration_ms))}\n`;
        continue;
      }
      if (data.skip !== undefined && data.skip !== false) {
        tally.skipped.push(`${data.name}${typeof data.skip === 'string' ? ` (${data.skip})` : ''}`);
        yield `  ${yellow('– skipped')} ${data.name} ${dim(String(data.skip))}\n`;
      } else if (event.type === 'test:pass') {
        tally.passed += 1;
      } else {
        tally.failed += 1;
        const error = event.data.details.error;
        yield `  ${red('✘')} ${data.name} ${dim(`${relative(process.cwd(), data.file ?? '')}:${data.line ?? 0}`)}\n${inspect(error.cause ?? error)}\n`;
      }
    } else if (event.type === 'test:stderr' || event.type === 'test:stdout') {
      yield event.data.message;
    } else if (event.type === 'test:diagnostic' && event.data.level === 'error') {
      yield `${red(event.data.message)}\n`;
    }
  }
  const file = process.env['TALLY_FILE'];
  if (file !== undefined) writeFileSync(file, JSON.stringify(tally));
}
