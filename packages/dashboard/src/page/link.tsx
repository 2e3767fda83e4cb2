/** Links inside the page: real addresses, so that they can be copied and opened in a new tab. */
import type { ComponentChildren } from 'preact';

export function go(path: string): void {
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
}

export function replaceAddress(path: string): void {
  history.replaceState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
}

export function Link({ to, current, children }: { to: string; current?: boolean; children: ComponentChildren }) {
  return (
    <a
      href={to}
      aria-current={current === true ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
