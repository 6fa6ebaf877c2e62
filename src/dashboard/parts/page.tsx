import { type ReactNode, useEffect } from 'react';

interface Props {
  readonly title: string;
  /** Beside the title: figures, buttons. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A page with its one first heading, which is also the title of the window. */
export function Page({ title, aside, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Stageplane`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <h1>{title}</h1>
        {aside}
      </header>
      {children}
    </>
  );
}
