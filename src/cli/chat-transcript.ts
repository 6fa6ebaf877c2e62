import { randomUUID } from 'node:crypto';
import type { ChatMessage } from '../../gen/stageplane/v1/token_endpoint.js';

/** What was said in a chat so far, and how it is sent: whole, since a run keeps nothing that it could not lose. */
export class ChatTranscript {
  readonly #messages: ChatMessage[];
  readonly #plain: boolean;
  /** The run recognises what it has seen of this conversation. */
  readonly #conversation = randomUUID();

  /** @param plain lines of text instead of messages, for models without a chat template */
  constructor({ plain, system }: { readonly plain: boolean; readonly system?: string | undefined }) {
    this.#plain = plain;
    this.#messages = system === undefined ? [] : [{ role: 'system', content: system }];
  }

  said(content: string): void {
    this.#messages.push({ role: 'user', content });
  }

  answered(content: string): void {
    this.#messages.push({ role: 'assistant', content });
  }

  /** The next turn: the whole conversation up to here. */
  turn(): { readonly prompt: string; readonly messages: ChatMessage[]; readonly conversation: string } {
    const conversation = this.#conversation;
    if (!this.#plain) return { prompt: '', messages: [...this.#messages], conversation };
    return { prompt: this.#messages.map(({ content }) => `${content}\n`).join(''), messages: [], conversation };
  }
}
