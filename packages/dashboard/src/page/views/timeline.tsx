/** Conditions and events of all objects of the cluster, and changes of its nodes: on one axis, and as a list. */
import { useEffect, useRef } from 'preact/hooks';
import { type Address, pathOf, withParameter } from '../address.ts';
import { clock, count, span } from '../format.ts';
import { replaceAddress } from '../link.tsx';
import type { LiveCluster } from '../live-cluster.ts';
import { Scroll } from '../scroll.tsx';
import { useEvery, useRead } from '../use-read.ts';

type Kind = 'condition' | 'event' | 'node';
interface Entry {
  readonly at: number;
  readonly object: string;
  readonly what: string;
  readonly kind: Kind;
  readonly message: string;
  readonly warning: boolean;
}

interface TimelineBody {
  readonly now: number;
  readonly since: number;
  readonly entries: readonly Entry[];
}

const dayMs = 86_400_000;
const lanes = [
  ['node', 'Nodes'],
  ['event', 'Events'],
  ['condition', 'Conditions'],
] as const;
const filters = [['', 'all'], ['warning', 'warnings'], ...lanes.map(([kind, title]) => [kind, title.toLowerCase()] as const)] as const;

export function Timeline({ at: address, live }: { at: Extract<Address, { cluster: string }>; live: LiveCluster }) {
  const { value, problem } = useRead<TimelineBody>(`${live.base}/timeline`, useEvery(10_000));
  const only = address.query.get('only') ?? '';
  const entries = (value?.entries ?? []).filter((entry) => only === '' || (only === 'warning' ? entry.warning : entry.kind === only));
  const choose = (name: string) => replaceAddress(pathOf(address, 'timeline', '', withParameter(address.query, 'only', name)));
  return (
    <section>
      <h2 class="page">Timeline</h2>
      {problem !== '' && <p class="notice bad">{problem}</p>}
      {value !== undefined && <Axis body={value} entries={entries} />}
      <div class="chips" role="group" aria-label="Show">
        {filters.map(([name, title]) => (
          <button key={name} type="button" aria-pressed={only === name} onClick={() => choose(name)}>
            {title}
          </button>
        ))}
      </div>
      {value !== undefined && <p class="quiet small">Changes of nodes are known for {span(value.now - value.since)}, since the dashboard began to follow this cluster.</p>}
      <Scroll label="Timeline">
        <table>
          <thead>
            <tr>
              <th>Time</th>
              <th>Object</th>
              <th>What</th>
              <th>Message</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ at, object, what, message, warning }) => (
              <tr key={`${at} ${object} ${what} ${message}`}>
                <td>{clock(at, Date.now())}</td>
                <td>{object}</td>
                <td>{warning ? <span class="pill warning">{what}</span> : what}</td>
                <td class="text">{message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

const height = 96;
const left = 84;

/** The last 24 hours, or as much of them as there is something of. */
function Axis({ body, entries }: { body: TimelineBody; entries: readonly Entry[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { now } = body;
  const recent = entries.filter(({ at }) => at > now - dayMs && at <= now);
  const from = Math.min(now - 600_000, ...recent.map(({ at }) => at));
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, recent, from, now);
  }, [body, entries]);
  const warnings = recent.filter(({ warning }) => warning).length;
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={`${count(recent.length, 'entry', 'entries')} in the last ${span(now - from)}, ${count(warnings, 'warning')}; the table below says the same in words.`}
    />
  );
}

function draw(canvas: HTMLCanvasElement, entries: readonly Entry[], from: number, until: number): void {
  const width = Math.max(260, (canvas.parentElement?.clientWidth ?? 600) - 34);
  const ratio = devicePixelRatio;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (context === null) return;
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(name);
  context.scale(ratio, ratio);
  context.font = '11px system-ui';
  const x = (at: number) => left + ((at - from) / Math.max(1, until - from)) * (width - left - 8);
  lanes.forEach(([kind, title], lane) => {
    const y = 14 + lane * 24;
    context.fillStyle = colour('--quiet');
    context.fillText(title, 0, y + 4);
    context.strokeStyle = colour('--line');
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(width - 8, y);
    context.stroke();
    for (const entry of entries) {
      if (entry.kind !== kind) continue;
      // A warning is higher than the others as well: colour is never the only sign.
      const size = entry.warning ? 9 : 5;
      context.fillStyle = colour(entry.warning ? '--bad' : '--use-allocated');
      context.fillRect(x(entry.at) - 1.5, y - size, 3, 2 * size);
    }
  });
  context.fillStyle = colour('--quiet');
  const marks = width < 500 ? 2 : 4;
  for (let mark = 0; mark <= marks; mark += 1) {
    const at = from + ((until - from) * mark) / marks;
    context.textAlign = mark === marks ? 'right' : mark === 0 ? 'left' : 'center';
    context.fillText(clock(at, until), x(at), height - 6);
  }
}
