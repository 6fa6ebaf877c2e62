/** How fast text comes, in words. @param tokensPerSecond such as `TextLoad.tokens_per_second`, not negative */
export function textSpeed(tokensPerSecond: number): string {
  const digits = tokensPerSecond >= 100 || tokensPerSecond === 0 ? 0 : 1;
  return `${tokensPerSecond.toFixed(digits)} tokens/s`;
}
