import { type ReactNode, useState } from 'react';

interface Props {
  readonly label: string;
  /** What will happen, and what cannot be undone. */
  readonly question: string;
  readonly onConfirm: () => Promise<void>;
  /** What there is to choose about it. */
  readonly children?: ReactNode;
}

/** A button that asks once more before it does what cannot be undone. The focus goes along with it, and back again. */
export function ConfirmButton({ label, question, onConfirm, children }: Props) {
  const [step, setStep] = useState<'untouched' | 'asking' | 'doing' | 'asked'>('untouched');
  if (step === 'untouched' || step === 'asked')
    return (
      // biome-ignore lint/a11y/noAutofocus: the answer that had the focus is gone.
      <button type="button" className="button" autoFocus={step === 'asked'} onClick={() => setStep('asking')}>
        {label}
      </button>
    );
  const confirm = async () => {
    setStep('doing');
    await onConfirm();
    setStep('asked');
  };
  return (
    <fieldset className="confirm" aria-label={label}>
      <span>{question}</span>
      {children}
      <button type="button" className="button button-danger" disabled={step === 'doing'} onClick={confirm}>
        {label}
      </button>
      {/* biome-ignore lint/a11y/noAutofocus: the button that had the focus is gone, and the harmless answer takes it. */}
      <button type="button" className="button" autoFocus onClick={() => setStep('asked')}>
        Keep it
      </button>
    </fieldset>
  );
}
