/** A share as a bar, with the same in words beside it. */
interface BarProps {
  readonly part: number;
  readonly whole: number;
  readonly text: string;
}

export function Bar({ part, whole, text }: BarProps) {
  const share = whole === 0 ? 0 : Math.min(1, part / whole);
  return (
    <div class="bar">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="6" rx="1" />
        <rect class="fill" width={share * 100} height="6" rx="1" />
      </svg>
      <span>{text}</span>
    </div>
  );
}

/** The same in a cell of a table. */
export function Meter({ part, whole, text }: BarProps) {
  const share = whole === 0 ? 0 : Math.min(1, part / whole);
  return (
    <span class="meter">
      <svg viewBox="0 0 40 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="40" height="6" rx="1" />
        <rect class="fill" width={share * 40} height="6" rx="1" />
      </svg>
      {text}
    </span>
  );
}
