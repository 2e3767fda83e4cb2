/** The mark of the page: four nodes, two of them busy. */
export function Mark() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <rect x="1" y="1" width="6" height="6" rx="1.5" />
      <rect x="9" y="1" width="6" height="6" rx="1.5" opacity="0.45" />
      <rect x="1" y="9" width="6" height="6" rx="1.5" opacity="0.45" />
      <rect x="9" y="9" width="6" height="6" rx="1.5" />
    </svg>
  );
}
