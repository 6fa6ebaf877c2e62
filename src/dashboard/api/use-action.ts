import { useState } from 'react';
import { ApiError } from './api-error.js';

/** What somebody asks the orchestrator to do: whether it is under way, and why it was not done. */
export function useAction() {
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const act = async (what: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await what();
    } catch (thrown) {
      if (!(thrown instanceof ApiError)) throw thrown;
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return { error, isBusy, act };
}
