import { type Node, NodeConditionType as Type } from '../../../gen/stageplane/v1/node.js';

/** A node's conditions in one word: what keeps it from taking stages, the gravest first. */
export function nodeState({ conditions, drain }: Node): string {
  const met = new Set(conditions.filter((condition) => condition.met).map(({ type }) => type));
  if (met.has(Type.NODE_CONDITION_TYPE_LOST)) return 'lost';
  if (!met.has(Type.NODE_CONDITION_TYPE_CONNECTED)) return 'away';
  if (!met.has(Type.NODE_CONDITION_TYPE_RECONCILED)) return 'reconciling';
  if (met.has(Type.NODE_CONDITION_TYPE_DRAINING)) return drain?.runs.length === 0 ? 'drained' : 'draining';
  if (met.has(Type.NODE_CONDITION_TYPE_CORDONED)) return 'cordoned';
  return met.has(Type.NODE_CONDITION_TYPE_SCHEDULABLE) ? 'schedulable' : 'unschedulable';
}
