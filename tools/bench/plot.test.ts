import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plot } from './plot.ts';

test('the longest bar fills the width, and the others are in proportion', () => {
  const svg = plot({
    title: 'a < b',
    unit: 's',
    groups: [
      {
        label: 'x',
        bars: [
          { label: 'before', value: 4 },
          { label: 'now', value: 1 },
        ],
      },
    ],
  });
  const widths = [...svg.matchAll(/<rect x="190"[^>]* width="([\d.]+)"/g)].map((match) => Number(match[1]));
  assert.equal((widths[0] ?? 0) / (widths[1] ?? 1), 4);
  assert.match(svg, /a &lt; b/);
});
