import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { session as current, type Session } from './api/session.js';
import { ConnectionBanner } from './parts/connection-banner.js';

interface Props {
  readonly session: Session;
  readonly children: ReactNode;
}

const pages = [
  { href: '/', name: 'Pool', method: 'ListNodes' },
  { href: '/runs', name: 'Runs', method: 'ListRuns' },
  { href: '/plan', name: 'Plan', method: 'PlanRun' },
  { href: '/events', name: 'Events', method: 'WatchEvents' },
] as const;

/** What is around every page: where one can go, who one is, and whether the orchestrator is heard of. */
export function Frame({ session, children }: Props) {
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(location);
  useEffect(() => {
    // A new page begins at its heading for who reads it by ear or keyboard; the first one has just been loaded.
    if (first.current !== location) main.current?.focus();
    first.current = location;
  }, [location]);
  const open = session.kind === 'open' ? session : undefined;
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <Link href="/" className="brand">
          <img src={new URL('./icon.svg', import.meta.url).href} alt="" width="22" height="22" />
          Stageplane
        </Link>
        <nav aria-label="Pages">
          {pages
            .filter(({ method }) => open?.methods.has(method))
            .map(({ href, name }) => (
              <Link key={href} href={href} aria-current={isCurrent(href, location) ? 'page' : undefined}>
                {name}
              </Link>
            ))}
        </nav>
        {open?.name !== undefined && <Who name={open.name} role={open.role} />}
      </header>
      <ConnectionBanner />
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

function Who({ name, role }: { readonly name: string; readonly role: string | undefined }) {
  return (
    <p className="who">
      <bdi>{name}</bdi> <span className="quiet">{role}</span>{' '}
      <button type="button" className="button" onClick={() => void current.signOut().catch(() => {})}>
        Sign out
      </button>
    </p>
  );
}

function isCurrent(href: string, location: string): boolean {
  return href === '/' ? location === '/' : location === href || location.startsWith(`${href}/`);
}
