// The second turn of a chat costs what is new in it.

import { figure, goalAtMost, heading, inTurns, median, ratios } from '../figures.mjs';
import { Chain, firstTokenMillis } from './chain.mjs';

const ROUNDS = 3;
/** Of 11 tokens each. */
const SENTENCES = 90;
const ANSWER_TOKENS = 8;

export async function chat({ model, sliceFolder, rounds = ROUNDS }) {
  heading(`chat: 3 stages, a first turn of about 1000 tokens, medians of ${rounds} rounds`);
  const chain = await Chain.start(model, sliceFolder, 3);
  await chain.answer({ prompt: 'Once upon a time', maxTokens: ANSWER_TOKENS });
  const { turns } = await inTurns(rounds, { turns: (round) => twoTurns(chain, `conversation ${round}`) }, 0);
  await chain.stop();
  const [first, second] = [0, 1].map((turn) => turns.map((answers) => firstTokenMillis(answers[turn])));
  const { promptTokens, reusedTokens } = turns.at(-1)[1].done;
  figure('first turn, to its first token', median(first).toFixed(0), 'ms');
  figure(`second turn, ${reusedTokens} of its ${promptTokens} tokens held already`, median(second).toFixed(0), 'ms');
  goalAtMost('second turn / first', ratios(second, first), 0.15);
}

async function twoTurns(chain, conversation) {
  const story = 'The keeper lit the lamp and wrote down the weather. '.repeat(SENTENCES);
  const asked = { role: 'user', content: `${story}\nTell me more about the keeper.` };
  const first = await chain.answer({ messages: [asked], maxTokens: ANSWER_TOKENS, conversation });
  const messages = [asked, { role: 'assistant', content: first.text }, { role: 'user', content: 'And what else?' }];
  const second = await chain.answer({ messages, maxTokens: ANSWER_TOKENS, conversation });
  chain.endConversation(conversation);
  return [first, second];
}
