import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
} from './quantity.ts';

const canonical: { reason: string; text: string | number; want: string | undefined }[] = [
  { reason: 'thousand thousandths are one', text: '1000m', want: '1' },
  { reason: 'a binary amount climbs to the largest suffix', text: '1024Mi', want: '1Gi' },
  { reason: 'a plain number takes a decimal suffix', text: '2000', want: '2k' },
  { reason: 'a JSON number is read as its text', text: 0.5, want: '500m' },
  { reason: 'half a gibibyte is a whole number of mebibytes', text: '0.5Gi', want: '512Mi' },
  { reason: 'a number that has no larger whole suffix stays', text: '1500m', want: '1500m' },
  { reason: 'small binary amounts lose their suffix', text: '0.5Ki', want: '512' },
  { reason: 'a fraction of a byte is written in decimal', text: '0.1Gi', want: '107374182400m' },
  { reason: 'exponents stay exponents', text: '2000e0', want: '2e3' },
  { reason: 'zero has one text', text: '0Mi', want: '0' },
  { reason: 'negative amounts keep their sign', text: '-2000', want: '-2k' },
  { reason: 'finer than a billionth is rounded up, not lost', text: '0.0000000001', want: '1n' },
  { reason: 'words are no quantity', text: 'abc', want: undefined },
  { reason: 'a suffix alone is no quantity', text: 'Gi', want: undefined },
  { reason: 'an empty text is no quantity', text: '', want: undefined },
  { reason: 'a blank inside is no quantity', text: '1 Gi', want: undefined },
];

describe('canonicalQuantity', () => {
  for (const { reason, text, want } of canonical) {
    it(`${JSON.stringify(text)}: ${reason}`, () => assert.equal(canonicalQuantity(text), want));
  }
});

const quantityText = fc
  .tuple(
    fc.integer({ min: -1_000_000, max: 1_000_000 }),
    fc.option(fc.integer({ min: 0, max: 999 })),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-3'),
  )
  .map(([whole, fraction, suffix]) => `${whole}${fraction === null ? '' : `.${fraction}`}${suffix}`);

function parsed(text: string) {
  const quantity = parseQuantity(text);
  assert.ok(quantity, `${text} must parse`);
  return quantity;
}

describe('quantity laws', () => {
  it('the canonical text means the same value and is its own canonical text', () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const first = formatQuantity(parsed(text));
        assert.equal(compareQuantities(parsed(first), parsed(text)), 0);
        assert.equal(canonicalQuantity(first), first);
      }),
    );
  });
  it('adding and taking away again gives the value back', () => {
    fc.assert(
      fc.property(quantityText, quantityText, (a, b) => {
        const sum = addQuantities(parsed(a), parsed(b));
        assert.equal(compareQuantities(subtractQuantities(sum, parsed(b)), parsed(a)), 0);
      }),
    );
  });
});
