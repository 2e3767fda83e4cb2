import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const read = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');

test('the README shows the example that is run, in about thirty lines', () => {
  const example = read('follow-a-job.ts');
  const [comment = '', ...code] = example.split('\n');
  assert.match(comment, /^\/\*\*/);
  assert.ok(read('../README.md').includes(`\`\`\`ts\n${code.join('\n')}\`\`\`\n`));
  assert.ok(example.trimEnd().split('\n').length <= 30);
});
