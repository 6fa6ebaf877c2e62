import { runInNewContext } from 'node:vm';
import { Template } from '@huggingface/jinja';
import type { ChatMessage } from '../../gen/stageplane/v1/token_endpoint.js';
import { clipText } from '../core/clip-text.js';
import { limits } from '../core/limits.js';

/** What a model's file says of its conversations. */
export interface ChatFormat {
  /** Jinja source. */
  readonly template: string;
  /** Text of the token that begins a text; empty when the model has none. */
  readonly beginText: string;
  /** Text of the token that ends one; empty when the model has none. */
  readonly endText: string;
}

export type ChatRendering =
  | {
      readonly kind: 'rendered';
      /** At most `limits.renderedPromptBytes`. */
      readonly text: string;
      /** The text brings the token that begins it, so that nobody may add another. */
      readonly hasBegin: boolean;
    }
  /** `problem` goes on a sentence about the model's chat template. */
  | { readonly kind: 'refused'; readonly problem: string };

/** A model's chat template: a program of strangers, which gets a bounded time and makes a bounded text (I16). */
export class ChatTemplate {
  #parsed: Template | undefined;

  constructor(readonly format: ChatFormat) {}

  /** Makes of a conversation the text after which the assistant's next message comes. */
  render(messages: readonly ChatMessage[]): ChatRendering {
    let text: string;
    try {
      text = runBounded(() => this.#render(messages));
    } catch (error) {
      return { kind: 'refused', problem: problemOf(error, this.format.template) };
    }
    // The length is checked before the bytes are counted: a text may be made of few pieces and have half a gigabyte.
    if (text.length > limits.renderedPromptBytes || Buffer.byteLength(text) > limits.renderedPromptBytes) {
      const problem = `makes over ${limits.renderedPromptBytes} bytes of these messages: send fewer or shorter ones`;
      return { kind: 'refused', problem };
    }
    const { beginText } = this.format;
    return { kind: 'rendered', text, hasBegin: beginText !== '' && text.startsWith(beginText) };
  }

  #render(messages: readonly ChatMessage[]): string {
    const { template, beginText, endText } = this.format;
    this.#parsed ??= new Template(template);
    return this.#parsed.render({
      messages: messages.map(({ role, content }) => ({ role, content })),
      add_generation_prompt: true,
      bos_token: beginText,
      eos_token: endText,
    });
  }
}

/** Only the virtual machine can interrupt a function that never returns. */
function runBounded(call: () => string): string {
  return runInNewContext('call()', { call }, { timeout: limits.chatTemplateMillis });
}

function problemOf(error: unknown, template: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
    return `is not done with these messages after ${limits.chatTemplateMillis} ms: send a prompt instead`;
  }
  // What the template did not bring itself may be what somebody has said, and the sentence goes to logs.
  const said = template.includes(message) ? ` (${clipText(message, limits.violationBytes)})` : '';
  return `does not take these messages${said}: send others, or a prompt instead`;
}
