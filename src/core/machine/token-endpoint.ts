import type { StageFault } from '../../../gen/stageplane/v1/run.js';
import type { TextAnswer } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { RunId } from '../ids.js';
import type { Draft } from './draft.js';

export function reopenTokenEndpoints(_draft: Draft): void {}
export function tokenEndpointReady(_draft: Draft, _id: RunId, _generation: number): void {}
export function tokenEndpointLost(_draft: Draft, _id: RunId, _generation: number, _fault: StageFault): void {}
export function answerEnded(_draft: Draft, _id: RunId, _generation: number, _answer: TextAnswer): void {}
export function answerFailed(_draft: Draft, _id: RunId, _generation: number, _fault: StageFault): void {}
