/**
 * What a state means for who looks at it. Each has its own colour and its own shape, since not everybody sees colours:
 * a full disc, a ring that fills, a triangle, a broken ring, a square.
 */
export type Tone = 'good' | 'busy' | 'bad' | 'away' | 'over';

export interface State {
  readonly tone: Tone;
  /** One or two words. */
  readonly word: string;
}
