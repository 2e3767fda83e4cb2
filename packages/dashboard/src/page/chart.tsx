/** A line chart of a day, drawn on a canvas; the last values stand beside it as text, for those who cannot see it. */
import { useEffect, useRef } from 'preact/hooks';
import type { ChartName, Charts } from '../live/figures.ts';
import { clock } from './format.ts';

interface ChartProps {
  readonly title: string;
  readonly charts: Charts;
  readonly lines: readonly (readonly [ChartName, string, string])[];
}

const height = 110;

export function Chart({ title, charts, lines }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, charts, lines);
  }, [charts, lines]);
  const last = (name: ChartName) => charts.series[name].at(-1) ?? 'unknown';
  const [from] = charts.at;
  return (
    <section>
      <h2>{title}</h2>
      {charts.at.length < 2 && <p class="quiet small">One point a minute, for a day; the first ones come soon.</p>}
      <canvas ref={canvas} hidden={charts.at.length < 2} role="img" aria-label={`${title} of the last 24 hours. Now: ${lines.map(([name, label]) => `${label} ${last(name)}`).join(', ')}.`} />
      <div class="legend" hidden={charts.at.length < 2}>
        {lines.map(([name, label, colour]) => (
          <span key={name}>
            <Swatch colour={colour} /> {label} {last(name)}
          </span>
        ))}
        {from !== undefined && <span>since {clock(from, Date.now())}</span>}
      </div>
    </section>
  );
}

/** The policy of the page forbids style attributes; a property that a script sets is none. */
function Swatch({ colour }: { colour: string }) {
  const mark = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (mark.current !== null) mark.current.style.background = `var(${colour})`;
  }, [colour]);
  return <span class="use" ref={mark} aria-hidden="true" />;
}

function draw(canvas: HTMLCanvasElement, charts: Charts, lines: ChartProps['lines']): void {
  const width = Math.min(canvas.parentElement?.clientWidth ?? 600, 1400) - 34;
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  const from = charts.at[0];
  const until = charts.at.at(-1);
  if (context === null || from === undefined || until === undefined) return;
  const style = getComputedStyle(canvas);
  context.scale(ratio, ratio);
  const values = lines.flatMap(([name]) => charts.series[name].filter((value) => value !== null));
  const most = Math.max(1, ...values);
  context.fillStyle = style.getPropertyValue('--quiet');
  context.font = '11px system-ui';
  context.fillText(String(most), 0, 10);
  context.fillText('0', 0, height - 4);
  const x = (at: number) => 34 + ((at - from) / Math.max(1, until - from)) * (width - 40);
  const y = (value: number) => height - 6 - (value / most) * (height - 16);
  context.strokeStyle = style.getPropertyValue('--line');
  context.lineWidth = 1;
  for (const level of [0, most / 2, most]) {
    context.beginPath();
    context.moveTo(34, y(level));
    context.lineTo(width, y(level));
    context.stroke();
  }
  for (const [name, , colour] of lines) {
    context.strokeStyle = style.getPropertyValue(colour);
    context.lineWidth = 2;
    context.beginPath();
    let open = false;
    charts.series[name].forEach((value, index) => {
      // A gap where Slurm was unknown.
      if (value === null) {
        open = false;
        return;
      }
      const at = charts.at[index] ?? from;
      if (open) context.lineTo(x(at), y(value));
      else context.moveTo(x(at), y(value));
      open = true;
    });
    context.stroke();
  }
}
