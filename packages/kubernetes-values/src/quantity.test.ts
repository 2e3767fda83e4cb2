import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { bytes, milliCpu, Quantity, quantityNumber } from './quantity.ts';

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
  { reason: 'an exponent beyond all use is no quantity', text: '1e999999999', want: undefined },
];

describe('the canonical text', () => {
  for (const { reason, text, want } of canonical) {
    it(`${JSON.stringify(text)}: ${reason}`, () => assert.equal(Quantity.parse(text)?.toString(), want));
  }
});

const quantityText = fc
  .tuple(
    fc.integer({ min: -1_000_000, max: 1_000_000 }),
    fc.option(fc.integer({ min: 0, max: 999 })),
    fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-3'),
  )
  .map(([whole, fraction, suffix]) => `${whole}${fraction === null ? '' : `.${fraction}`}${suffix}`);

function parsed(text: string): Quantity {
  const quantity = Quantity.parse(text);
  assert.ok(quantity, `${text} must parse`);
  return quantity;
}

describe('laws of quantities', () => {
  it('the canonical text means the same value and is its own canonical text', () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const first = parsed(text).toString();
        assert.equal(parsed(first).compare(parsed(text)), 0);
        // Bytes that fill no whole Ki are written without a suffix, which reads as decimal.
        const isPlainBinary = text.endsWith('i') && /^-?\d+$/.test(first);
        const second = parsed(first).toString();
        if (!isPlainBinary) assert.equal(second, first);
        assert.equal(parsed(second).toString(), second);
      }),
      { examples: [['926062.5Ki']] },
    );
  });
  it('a binary amount that fills no whole Ki keeps its digits, as the API writes it', () => {
    assert.equal(parsed('926062.5Ki').toString(), '948288000');
    assert.equal(parsed('948288000').toString(), '948288k');
  });
  it('adding and subtracting again gives the value back', () => {
    fc.assert(
      fc.property(quantityText, quantityText, (a, b) => {
        const sum = parsed(a).add(parsed(b));
        assert.equal(sum.subtract(parsed(b)).compare(parsed(a)), 0);
      }),
    );
  });
  it('equal values are the same number, however they are written', () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        assert.equal(quantityNumber(parsed(text).toString()), quantityNumber(text));
      }),
    );
  });
  it('rounded amounts are never smaller, and less than one step larger', () => {
    fc.assert(
      fc.property(quantityText, (text) => {
        const { nanos } = parsed(text);
        // Larger amounts are not whole JavaScript numbers.
        fc.pre(nanos < 2n ** 53n * 1_000_000n && nanos > -(2n ** 53n) * 1_000_000n);
        for (const [rounded, step] of [
          [milliCpu(text), 1_000_000n],
          [bytes(text), 1_000_000_000n],
        ] as const) {
          const excess = BigInt(rounded) * step - nanos;
          assert.ok(excess >= 0n && excess < step, `${text} → ${rounded}`);
        }
      }),
    );
  });
});

const numbers: readonly [text: string | number | undefined, number, reason: string][] = [
  ['8', 8, 'a plain number'],
  [2, 2, 'YAML may have made it a number already'],
  ['500m', 0.5, 'thousandths'],
  ['9m', 0.009, 'thousandths that binary fractions cannot hold'],
  ['250000u', 0.25, 'millionths, as metrics write them'],
  ['1.5Gi', 1.5 * 2 ** 30, 'binary suffix'],
  ['.5', 0.5, 'no digit before the point'],
  ['2.', 2, 'no digit after the point'],
  ['3G', 3e9, 'decimal suffix'],
  ['2e3', 2000, 'an exponent'],
  ['1E', 1e18, 'E alone is a suffix, not an exponent'],
  ['5e-1', 0.5, 'a negative exponent'],
  ['-1', -1, 'a sign'],
  [undefined, 0, 'absent'],
  ['', 0, 'empty'],
  ['1.2.3', 0, 'nonsense'],
  ['4Zi', 0, 'a suffix that Kubernetes does not know'],
];

test('quantities as numbers', () => {
  for (const [text, number, reason] of numbers) assert.equal(quantityNumber(text), number, reason);
});

test('what is rounded is rounded up, and a whole number stays', () => {
  assert.equal(milliCpu('1500u'), 2);
  assert.equal(milliCpu('0.3'), 300);
  assert.equal(bytes('1500m'), 2);
  assert.equal(bytes('1Ki'), 1024);
});

test('an integer is whole and fits 64 bits', () => {
  assert.equal(parsed('1Ki').integer, 1024n);
  assert.equal(parsed('1500m').integer, undefined);
  assert.equal(parsed('10E').integer, undefined);
});
