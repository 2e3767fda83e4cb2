/** How the nodes of a cluster divide: one bar, and the same in words below it. */
import { useEffect, useRef } from 'preact/hooks';
import { type NodeUse, nodeUses } from '../live/node-row.ts';
import { UseMark, useColours } from './use-mark.tsx';

/** What works first, what does not last. */
const order: readonly NodeUse[] = [
  'allocated',
  'mixed',
  'idle',
  'powering',
  'asleep',
  'maintenance',
  'draining',
  'drained',
  'unknown',
  'unresponsive',
  'down',
];

export function StateBar({ nodes }: { nodes: Readonly<Record<NodeUse, number>> }) {
  const all = Object.keys(nodeUses).reduce((sum, use) => sum + nodes[use as NodeUse], 0);
  const present = order.filter((use) => nodes[use] > 0);
  let x = 0;
  return (
    <div class="states">
      <svg viewBox={`0 0 ${Math.max(1, all)} 10`} preserveAspectRatio="none" aria-hidden="true">
        {present.map((use) => {
          const at = x;
          x += nodes[use];
          return <Part key={use} use={use} x={at} width={nodes[use]} />;
        })}
      </svg>
      <div class="legend">
        {present.map((use) => (
          <span key={use}>
            <UseMark use={use} />
            {nodes[use]} {use}
          </span>
        ))}
      </div>
    </div>
  );
}

function Part({ use, x, width }: { use: NodeUse; x: number; width: number }) {
  const part = useRef<SVGRectElement>(null);
  useEffect(() => {
    if (part.current !== null) part.current.style.fill = `var(${useColours[use]})`;
  }, [use]);
  return <rect ref={part} x={x} width={width} height="10" />;
}
