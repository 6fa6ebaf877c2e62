import { Box } from 'ink';
import { LineText } from './line-text.js';
import type { Row } from './pool-rows.js';

interface PanelProps {
  readonly head: string;
  readonly rows: readonly Row[];
  /** Lines with the head. */
  readonly height: number;
  readonly width: number;
  /** Of the first row that is shown. */
  readonly start: number;
  readonly selected?: number | undefined;
  readonly hasFocus?: boolean | undefined;
}

/** A head and as many rows as there is room for. What is out of sight is not drawn. */
export function Panel({ head, rows, height, width, start, selected, hasFocus = false }: PanelProps) {
  const shown = rows.slice(start, start + height - 1);
  const left = rows.length - start - shown.length;
  const more = [...(start > 0 ? [`${start} above`] : []), ...(left > 0 ? [`${left} below`] : [])].join(', ');
  return (
    <Box flexDirection="column" height={height} overflow="hidden">
      <LineText text={headText(`${hasFocus ? '> ' : '  '}${head}`, more, width)} width={width} isHead />
      {shown.map(({ key, text, tone }, at) => (
        <LineText key={key} text={`  ${text}`} tone={tone} width={width} isSelected={start + at === selected} />
      ))}
    </Box>
  );
}

/** What is out of sight is said at the right, and more important than the last columns. */
function headText(head: string, more: string, width: number): string {
  const room = Math.max(0, width - more.length - 2);
  return more === '' ? head : `${head.slice(0, room).padEnd(room)}  ${more}`;
}
