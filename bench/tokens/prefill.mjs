// A long prompt: in pieces it is in several stages at once, and others may decode between the pieces.

import { figure, goalAtMost, heading, inTurns, median, quantile, ratios } from '../figures.mjs';
import { Chain, firstTokenMillis } from './chain.mjs';

const ROUNDS = 3;
const ROWS = 1024;
const STAGES = 2;
/** Every word is one token, and so is the first. */
const PROMPT = ' the'.repeat(ROWS);
/** Tokens of the other conversation before the prompt comes, and of what warms up. */
const WARM_TOKENS = 4;

export async function prefill({ model, sliceFolder, rounds = ROUNDS }) {
  const pieces = await Chain.start(model, sliceFolder, STAGES, { sessions: 2 });
  const onePiece = await Chain.start(model, sliceFolder, STAGES, { microBatch: ROWS });
  const count = ROWS / pieces.microBatch;
  heading(`prefill: ${ROWS} tokens, ${STAGES} stages, 1 thread each, medians of ${rounds} rounds`);
  for (const chain of [pieces, onePiece]) await chain.answer({ prompt: 'Once upon a time', maxTokens: WARM_TOKENS });
  const subjects = {
    pieces: () => prefillMillis(pieces),
    onePiece: () => prefillMillis(onePiece),
    gaps: () => gapsBeside(pieces),
  };
  const { gaps, ...millis } = await inTurns(rounds, subjects, 0);
  for (const chain of [pieces, onePiece]) await chain.stop();
  figure('one piece, through one stage after the other', median(millis.onePiece).toFixed(0), 'ms');
  figure(`${count} pieces of ${pieces.microBatch} rows, the default`, median(millis.pieces).toFixed(0), 'ms');
  goalAtMost('pieces / one piece', ratios(millis.pieces, millis.onePiece), 0.62);
  reportGaps(gaps.flat(), median(millis.pieces) / (count + STAGES - 1));
}

/** @param pieceMillis how long a piece is in a stage, when nobody else decodes */
function reportGaps(gaps, pieceMillis) {
  const p95 = quantile(gaps, 0.95);
  figure('a micro-batch in one stage: prefill / (pieces + stages - 1)', pieceMillis.toFixed(0), 'ms');
  figure(`decode beside the prefill, ${gaps.length} gaps: median`, median(gaps).toFixed(0), 'ms');
  figure('decode beside the prefill: 95 of 100 within', p95.toFixed(0), 'ms');
  goalAtMost('p95 gap / a micro-batch in one stage', [p95 / pieceMillis], 1.5);
  figure('p95 gap / a micro-batch in all stages', (p95 / pieceMillis / STAGES).toFixed(2), '');
}

async function prefillMillis(chain) {
  const answer = await chain.answer({ prompt: PROMPT, maxTokens: 1 });
  if (answer.done.promptTokens !== ROWS) throw new Error(`the prompt has ${answer.done.promptTokens} tokens`);
  return firstTokenMillis(answer);
}

/** Milliseconds between the tokens of one conversation, while another one's prompt is under way. */
async function gapsBeside(chain) {
  let other;
  let begin;
  let over = false;
  const decoding = chain.answer({ prompt: 'Once upon a time', maxTokens: ROWS }, (tokens, cancel) => {
    if (tokens === WARM_TOKENS) {
      begin = performance.now();
      other = prefillMillis(chain).finally(() => {
        over = true;
      });
    }
    if (over) cancel();
  });
  const { at } = await decoding;
  const millis = await other;
  const during = at.filter((time) => time >= begin && time <= begin + millis);
  return during.slice(1).map((time, index) => time - during[index]);
}
