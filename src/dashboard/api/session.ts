import { ApiError, errorIn } from './api-error.js';
import { send } from './send.js';

/** Who one is here, and what one may do. */
export type Session =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'key-needed' }
  | {
      readonly kind: 'open';
      /** Absent for somebody of the orchestrator's machine, who shows no key. */
      readonly name?: string;
      readonly role?: string;
      /** Methods of OrchestratorService. */
      readonly methods: ReadonlySet<string>;
    };

let current: Session = { kind: 'unknown' };
const listeners = new Set<() => void>();

export const session = {
  current: (): Session => current,

  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },

  /** Somebody was not let in: the key is missing, or good no longer. */
  lost: (): void => become({ kind: 'key-needed' }),

  /** Asks who one is; throws ApiError when nobody answers. */
  async read(): Promise<void> {
    const { status, body } = await send('GET', '/session');
    if (status === 401) become({ kind: 'key-needed' });
    else if (status === 200) become(openedBy(body));
    else throw errorIn(status, body);
  },

  /** Throws ApiError for a key that nobody gave. */
  async signIn(key: string): Promise<void> {
    if (!/^[!-~]+$/.test(key))
      throw new ApiError(401, 'KEY_UNKNOWN', 'this is no key: copy the whole of it, and no more');
    const { status, body } = await send('POST', '/session', { headers: { authorization: `Bearer ${key}` } });
    if (status !== 200) throw errorIn(status, body);
    become(openedBy(body));
  },

  async signOut(): Promise<void> {
    await send('DELETE', '/session');
    become({ kind: 'key-needed' });
  },
};

function openedBy(body: unknown): Session {
  const { methods, ...who } = body as { name?: string; role?: string; methods: string[] };
  return { kind: 'open', ...who, methods: new Set(methods) };
}

function become(next: Session): void {
  current = next;
  for (const listener of listeners) listener();
}
