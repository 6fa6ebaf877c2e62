import type { State, Tone } from './tone.js';

const shapes: Readonly<Record<Tone, React.ReactNode>> = {
  good: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  busy: (
    <>
      <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="M6 2a4 4 0 0 1 0 8z" fill="currentColor" />
    </>
  ),
  bad: <path d="M6 0.8 11.6 11H0.4z" fill="currentColor" />,
  away: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.8" strokeDasharray="2.6 1.6" />,
  over: <rect x="2" y="2" width="8" height="8" rx="1" fill="currentColor" />,
};

/** A state by word, colour and shape. */
export function Status({ state }: { readonly state: State }) {
  return (
    <span className={`status tone-${state.tone}`}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">
        {shapes[state.tone]}
      </svg>
      {state.word}
    </span>
  );
}
