import type { BarPart } from './bar-part.js';

interface Props {
  /** What the bar is of, for who does not see it. */
  readonly title: string;
  readonly parts: readonly BarPart[];
}

/** A device's memory as a bar with its figures below: those of parts that are there. */
export function MemoryBar({ title, parts }: Props) {
  const present = parts.filter(({ share }) => share > 0);
  const description = present.map(({ label, figure }) => `${figure} ${label}`).join(', ');
  return (
    <div className="memory">
      <div className="bar" role="img" aria-label={`${title}: ${description || 'nothing known'}`}>
        {present.map(({ kind, label, share }) => (
          <span key={label} className={`part part-${kind}`} style={{ flexGrow: Math.max(share, 0.004) }} />
        ))}
      </div>
      <ul className="legend" aria-hidden="true">
        {present.map(({ kind, label, figure }) => (
          <li key={label}>
            <span className={`swatch part-${kind}`} />
            <b>{figure}</b> {label}
          </li>
        ))}
      </ul>
    </div>
  );
}
