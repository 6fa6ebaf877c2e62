import type { GetServerInfoResponse } from '../../../gen/stageplane/v1/admin_service.js';
import { formatAge } from './duration.js';
import { escapeControls } from './escape.js';
import { renderFields } from './table.js';

/** Who an orchestrator is and how it does. */
export function serverView(info: GetServerInfoResponse, now: Date): string {
  const { startedAt, backup } = info;
  return renderFields([
    ['version', escapeControls(info.version)],
    ['listening on', escapeControls(info.listenAddress)],
    ['HTTP', escapeControls(info.httpUrl) || 'off'],
    ['data folder', escapeControls(info.dataFolder)],
    ['started', startedAt ? `${startedAt.toISOString()} (${formatAge(startedAt, now)} ago)` : '-'],
    ['cluster', escapeControls(info.clusterId)],
    ['epoch', String(info.epoch)],
    ['revision', String(info.revision)],
    ['connected nodes', String(info.connectedNodes)],
    ['active runs', String(info.activeRuns)],
    ['ignored messages', String(info.ignoredMessages)],
    ...(backup ? [['backup under way', escapeControls(backup.path)] as const] : []),
  ]);
}
