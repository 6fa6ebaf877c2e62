/** What a run has said. */
export interface SaidAnswer {
  readonly text: string;
  readonly tokenIds: readonly number[];
  /** What ended it: the model itself, a limit of the request, or somebody else, in the middle. */
  readonly end: 'model' | 'limit' | 'broken-off';
}

/** What the whole model has said. */
export interface WholeAnswer {
  readonly text: string;
  readonly tokenIds: readonly number[];
  /** Characters of the text after each token. */
  readonly textEnds: readonly number[];
}

export type Comparison =
  | { readonly kind: 'identical'; readonly tokens: number }
  | {
      readonly kind: 'different';
      /** Tokens that agree from the beginning on, which is the index of the first that differs. */
      readonly agreeing: number;
      /** The first that differs; absent where an answer has ended. All agree when both are absent: the texts differ. */
      readonly runToken: number | undefined;
      readonly wholeToken: number | undefined;
      /** What both say. */
      readonly common: string;
      /** What comes then. */
      readonly runText: string;
      readonly wholeText: string;
    };

/** Tokens that the whole model must be asked for: one more shows whether it ends as well. 0 when there is nothing to compare. */
export function tokensToReplay({ tokenIds, end }: SaidAnswer): number {
  return tokenIds.length + Number(end === 'model');
}

/** Token by token, and then the text, which people read. */
export function compareAnswers(run: SaidAnswer, whole: WholeAnswer): Comparison {
  const longest = Math.max(run.tokenIds.length, whole.tokenIds.length);
  let agreeing = 0;
  while (agreeing < longest && run.tokenIds[agreeing] === whole.tokenIds[agreeing]) agreeing += 1;
  if (agreeing === longest && sameText(run, whole)) return { kind: 'identical', tokens: longest };
  const sure = agreeing === longest ? whole.text.length : (whole.textEnds[agreeing - 1] ?? 0);
  const shared = sharedCharacters(run.text, whole.text.slice(0, sure));
  return {
    kind: 'different',
    agreeing,
    runToken: run.tokenIds[agreeing],
    wholeToken: whole.tokenIds[agreeing],
    common: whole.text.slice(0, shared),
    runText: run.text.slice(shared),
    wholeText: whole.text.slice(shared),
  };
}

/** An answer that was broken off may lack the text of a character that was not whole yet. */
function sameText(run: SaidAnswer, whole: WholeAnswer): boolean {
  return run.end === 'broken-off' ? whole.text.startsWith(run.text) : whole.text === run.text;
}

/** Length of the longest beginning of both; never ends inside a surrogate pair. */
function sharedCharacters(one: string, other: string): number {
  let length = 0;
  while (length < other.length && one[length] === other[length]) length += 1;
  return /[\uD800-\uDBFF]$/.test(other.slice(0, length)) ? length - 1 : length;
}
