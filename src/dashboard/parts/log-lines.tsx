/** Lines of a log, the newest in sight. */
export function LogLines({ lines }: { readonly lines: readonly string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has only a keyboard scrolls it too.
    <pre className="log" tabIndex={0}>
      {lines.join('\n')}
    </pre>
  );
}
