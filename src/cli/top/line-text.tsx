import { Text } from 'ink';
import { memo } from 'react';
import type { Tone } from './pool-rows.js';

const colours = { good: 'green', busy: 'yellow', bad: 'red' } as const;

interface LineTextProps {
  readonly text: string;
  readonly width: number;
  readonly tone?: Tone | undefined;
  readonly isSelected?: boolean | undefined;
  readonly isHead?: boolean | undefined;
}

/** One line, cut to the width. Drawn again only when it reads differently: of 500 nodes one changes at a time. */
export const LineText = memo(({ text, width, tone = 'plain', isSelected = false, isHead = false }: LineTextProps) => {
  const cut = text.length > width ? `${text.slice(0, Math.max(0, width - 1))}…` : text.padEnd(isSelected ? width : 0);
  return (
    <Text wrap="truncate" bold={isHead} inverse={isSelected} {...(tone !== 'plain' && { color: colours[tone] })}>
      {cut === '' ? ' ' : cut}
    </Text>
  );
});
LineText.displayName = 'LineText';
