/** What a node does, as a letter on its colour: colour is never the only sign. */
import { useEffect, useRef } from 'preact/hooks';
import { type NodeUse, nodeUses } from '../live/node-row.ts';

export const useColours: Readonly<Record<NodeUse, string>> = {
  down: '--use-down',
  unresponsive: '--use-down',
  draining: '--use-draining',
  drained: '--use-drained',
  maintenance: '--use-drained',
  powering: '--use-quiet',
  asleep: '--use-quiet',
  allocated: '--use-allocated',
  mixed: '--use-mixed',
  idle: '--use-idle',
  unknown: '--use-quiet',
};

/** The policy of the page forbids style attributes; a property that a script sets is none. */
export function UseMark({ use }: { use: NodeUse }) {
  const mark = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (mark.current === null) return;
    mark.current.style.background = `var(${useColours[use]})`;
    mark.current.style.color = '#111';
  }, [use]);
  return (
    <span class="use" ref={mark} aria-hidden="true">
      {nodeUses[use]}
    </span>
  );
}
