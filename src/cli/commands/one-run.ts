/** What every command about one run is given. */
export interface OneRunValues {
  readonly id: bigint;
  readonly orchestrator: string;
}
