/** The `format` function: %s %d %f %e %b %o %x %X and %%. */
import { CelRuntimeError } from './errors.ts';
import { durationText, timestampText } from './time.ts';
import { type CelValue, Duration, Timestamp, TypeValue, Uint } from './values.ts';

export function formatText(template: string, args: readonly CelValue[]): string {
  let next = 0;
  return template.replaceAll(
    /%(?:%|(?:\.(\d+))?([sdfeboxX]))|%/g,
    (clause, precision?: string, verb?: string) => {
      if (clause === '%%') return '%';
      if (verb === undefined) throw new CelRuntimeError('could not parse formatting clause');
      const value = args[next];
      if (value === undefined) throw new CelRuntimeError(`index ${next} out of range`);
      next += 1;
      return formatOne(verb, value, precision === undefined ? undefined : Number(precision));
    },
  );
}

function formatOne(verb: string, value: CelValue, precision: number | undefined): string {
  const integer = value instanceof Uint ? value.value : typeof value === 'bigint' ? value : undefined;
  switch (verb) {
    case 's':
      return show(value);
    case 'd':
      if (integer !== undefined) return integer.toString();
      if (typeof value === 'number') return String(value);
      break;
    case 'f':
      if (typeof value === 'number' || integer !== undefined)
        return Number(integer ?? value).toFixed(precision ?? 6);
      break;
    case 'e':
      if (typeof value === 'number' || integer !== undefined)
        return Number(integer ?? value)
          .toExponential(precision ?? 6)
          .replace(/e([+-])(\d)$/, 'e$10$2');
      break;
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      if (integer !== undefined) return integer.toString(2);
      break;
    case 'o':
      if (integer !== undefined) return integer.toString(8);
      break;
    default: {
      const hex =
        typeof value === 'string' || value instanceof Uint8Array
          ? Buffer.from(value as string).toString('hex')
          : integer?.toString(16);
      if (hex !== undefined) return verb === 'X' ? hex.toUpperCase() : hex;
    }
  }
  throw new CelRuntimeError(`error during formatting: no formatting for %${verb}`);
}

function show(value: CelValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Duration) return durationText(value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof TypeValue) return value.name;
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${show(key)}: ${show(item)}`);
    return `{${entries.toSorted().join(', ')}}`;
  }
  if (typeof value === 'object') throw new CelRuntimeError('no formatting function for this type');
  return String(value);
}
