/** A model that goes on for long: few of its tokens end a text, and there is room for half a minute of the others. */
export const storyModel = { vocabulary: 8192, contextLength: 32_768 } as const;

/** A prompt that the fixture engine answers with 14 thousand tokens. */
export const storyPrompt = 'the';
