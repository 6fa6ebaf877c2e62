import type { ReactNode } from 'react';

interface Props {
  readonly summary: string;
  readonly children: ReactNode;
}

/** Fields that are rarely needed. */
export function MoreFields({ summary, children }: Props) {
  return (
    // A browser does not say what is wrong with a field that it does not show: it would only not send the form.
    <details
      onInvalidCapture={({ currentTarget }) => {
        currentTarget.open = true;
      }}
    >
      <summary>{summary}</summary>
      <div className="fields">{children}</div>
    </details>
  );
}
