import { demandCount } from './demand.js';

/** What the last stage gives back: a sampled token, never logits. */
export class TokenOutput {
  readonly tokenId: number;
  readonly text: string | undefined;

  /** @throws EngineError when the id is negative or no whole number */
  constructor(tokenId: number, text?: string) {
    demandCount(tokenId, 'a token id');
    this.tokenId = tokenId;
    this.text = text;
  }
}
