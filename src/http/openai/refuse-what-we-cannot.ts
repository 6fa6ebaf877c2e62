import { quoted } from '../../core/quoted.js';
import { type Body, badField, isAbsent, isObject } from './body.js';

/** What leaves the answer as it is, by field; every other value would ask for an answer that we cannot give. */
const harmless: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  best_of: (value) => value === 1,
  tools: isEmpty,
  functions: isEmpty,
  tool_choice: (value) => value === 'none' || value === 'auto',
  function_call: (value) => value === 'none' || value === 'auto',
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  logit_bias: isEmpty,
  response_format: (value) => isObject(value) && value.type === 'text',
  modalities: (value) => Array.isArray(value) && value.every((one) => one === 'text'),
  audio: () => false,
  web_search_options: () => false,
  echo: (value) => value === false,
  suffix: (value) => value === '',
};

/** An answer other than the one that was asked for would be worse than none. Fields that nobody here knows are ignored. */
export function refuseWhatWeCannot(body: Body): void {
  for (const [name, isHarmless] of Object.entries(harmless)) {
    const value = body[name];
    if (isAbsent(value) || isHarmless(value)) continue;
    throw badField(name, `${name} is ${quoted(value)}, which is not supported here: leave it out`, 'UNSUPPORTED_VALUE');
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
