import type { Run } from '../../gen/stageplane/v1/run.js';
import { escapeControls } from '../cli/format/escape.js';
import { layerBar } from '../cli/format/layer-bar.js';
import { renderTable } from '../cli/format/table.js';
import { formatBytes } from '../core/format-bytes.js';

const columns = [
  { head: 'NODE' },
  { head: 'STAGE', align: 'right' },
  { head: 'LAYERS' },
  { head: 'READ', align: 'right' },
  { head: 'WORKER', align: 'right' },
  { head: 'DIGEST OF WHAT IT READ' },
] as const;

/** Which node holds what, by the workers' own reports. */
export function stagePicture(run: Run): string {
  const layers = run.plan?.model?.numLayers ?? 0;
  const rows = run.stages.map(({ nodeName, stageIndex, layerStart, layerEndExclusive, footprint }) => [
    escapeControls(nodeName),
    String(stageIndex),
    `${layerBar(layerStart, layerEndExclusive, layers, layers)} [${layerStart}, ${layerEndExclusive})`,
    formatBytes(footprint?.bytesRead ?? 0n),
    formatBytes(footprint?.hostBytes ?? 0n),
    escapeControls(footprint?.bytesDigest.slice(0, 16) ?? ''),
  ]);
  return renderTable(columns, rows);
}
