import { useState } from 'react';

interface Props {
  readonly label: string;
  /** What will happen, and what cannot be undone. */
  readonly question: string;
  readonly onConfirm: () => Promise<void>;
}

/** A button that asks once more before it does what cannot be undone. */
export function ConfirmButton({ label, question, onConfirm }: Props) {
  const [step, setStep] = useState<'rest' | 'asking' | 'doing'>('rest');
  if (step === 'rest')
    return (
      <button type="button" className="button" onClick={() => setStep('asking')}>
        {label}
      </button>
    );
  const confirm = async () => {
    setStep('doing');
    await onConfirm();
    setStep('rest');
  };
  return (
    <fieldset className="confirm" aria-label={label}>
      <span>{question}</span>
      <button type="button" className="button button-danger" disabled={step === 'doing'} onClick={confirm}>
        {label}
      </button>
      {/* biome-ignore lint/a11y/noAutofocus: the button that had the focus is gone, and the harmless answer takes it. */}
      <button type="button" className="button" autoFocus onClick={() => setStep('rest')}>
        Keep it
      </button>
    </fieldset>
  );
}
