import type { ReactNode } from 'react';
import type { ApiError } from '../api/api-error.js';

interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** What to do next where there is nothing to see yet. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** A command to type, on a line of its own. */
export function Command({ children }: { readonly children: string }) {
  return (
    <pre className="command">
      <code>{children}</code>
    </pre>
  );
}

/** Why something was not done, in the words of the orchestrator. */
export function Problem({ error }: { readonly error: ApiError | undefined }) {
  // Nobody answers: that is said above every page.
  if (!error || error.status === 0) return null;
  return (
    <div className="problem" role="alert">
      <p>{error.message}</p>
      {error.fieldViolations.length > 0 && (
        <ul>
          {error.fieldViolations.map(({ field, description }) => (
            <li key={field}>
              <code>{field}</code>: {description}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet">{error.reason}</p>
    </div>
  );
}

export function Loading() {
  return <p className="quiet loading-note">Reading…</p>;
}
