import type { FormEvent } from 'react';
import { session } from '../api/session.js';
import { useAction } from '../api/use-action.js';
import { Command, Problem } from '../parts/notice.js';
import { Page } from '../parts/page.js';

/** Asks for a key where one is needed; afterwards the page of the address is shown. */
export function SignInPage() {
  const { error, act } = useAction();
  const signIn = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key')).trim();
    void act(() => session.signIn(key));
  };
  return (
    <Page title="Sign in">
      <form className="panel sign-in" onSubmit={signIn}>
        <label htmlFor="key">Key</label>
        <input id="key" name="key" type="password" required autoComplete="current-password" spellCheck={false} />
        <button type="submit" className="button button-main">
          Sign in
        </button>
        <Problem error={error} />
        <p className="quiet">
          A key is made on the orchestrator's machine, to look, or with the role launcher to run models too:
        </p>
        <Command>stageplane key create --name me --role viewer</Command>
      </form>
    </Page>
  );
}
