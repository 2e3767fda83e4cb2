/** A bar chart as SVG, readable on light and dark pages. Pure. */

export interface Bar {
  readonly label: string;
  readonly value: number;
}

export interface Plot {
  readonly title: string;
  readonly unit: string;
  /** Bars of one group stand together; series have one colour each. */
  readonly groups: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
}

const width = 720;
const left = 190;
const barHeight = 16;
const gap = 14;
const colours = ['#8c8c8c', '#2f7ed8', '#5aa02c'];

export function plot({ title, unit, groups }: Plot): string {
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const scale = (width - left - 90) / most;
  const parts: string[] = [];
  let y = 44;
  for (const { label, bars } of groups) {
    parts.push(text(left - 10, y + (bars.length * barHeight) / 2 + 4, label, 'end'));
    for (const [index, bar] of bars.entries()) {
      const length = Math.max(1, bar.value * scale);
      parts.push(
        `<rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight - 3}" fill="${colours[index % colours.length]}"/>`,
        text(left + length + 6, y + barHeight - 5, `${bar.value} ${unit} ${bar.label}`, 'start', 11),
      );
      y += barHeight;
    }
    y += gap;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" font-family="sans-serif" role="img" aria-label="${escape(title)}">`,
    `<rect width="${width}" height="${y}" fill="#ffffff"/>`,
    text(12, 24, title, 'start', 15),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

const text = (x: number, y: number, words: string, anchor: 'start' | 'end', size = 12): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" text-anchor="${anchor}" fill="#222222">${escape(words)}</text>`;

const escape = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
