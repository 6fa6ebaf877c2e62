/** What an earlier run of the same stage, with the same settings, held on its device. */
export interface StageFootprint {
  /** Bytes at the fullest, everything together. */
  readonly deviceBytes: number;
}

/** Looks up what was measured of the layers `[start, end)`; undefined when nobody measured them. */
export type Ledger = (start: number, end: number) => StageFootprint | undefined;
