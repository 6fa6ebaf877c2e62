/** What every command about one node is given. */
export interface OneNodeValues {
  /** Name or id. */
  readonly node: string;
  readonly orchestrator: string;
}
