export function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-5 shrink-0" aria-hidden>
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <g className="fill-on-accent">
        <rect x="6" y="8" width="20" height="4" rx="2" />
        <rect x="10" y="14" width="12" height="4" rx="2" opacity=".8" />
        <rect x="14" y="20" width="8" height="4" rx="2" opacity=".65" />
      </g>
    </svg>
  );
}
