import { useSyncExternalStore } from 'react';
import { session } from './session.js';

/** Whether the orchestrator lets whoever sits here call a method: what it would refuse is not offered. */
export function useMay(): (method: string) => boolean {
  const current = useSyncExternalStore(session.subscribe, session.current);
  return (method) => current.kind === 'open' && current.methods.has(method);
}
