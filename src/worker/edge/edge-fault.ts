import { StageFaultReason } from '../../../gen/stageplane/v1/run.js';

/** Why an edge is over. */
export interface EdgeFault {
  readonly kind: /** The neighbour closed the edge between two objects. */
    | 'closed'
    /** The neighbour closed the edge, or died, inside an object. */
    | 'end-inside-object'
    | 'wrong-magic'
    | 'wrong-version'
    | 'wrong-header-length'
    | 'wrong-reserved'
    | 'wrong-flags'
    | 'wrong-sequence'
    | 'wrong-alignment'
    | 'extent-over-max'
    | 'too-many-sessions'
    /** The socket could not be listened on. */
    | 'not-listening';
  /** One sentence that names the edge and says what to do next. */
  readonly message: string;
}

/** A neighbour that dies does so inside an object as easily as between two: both are its end, not a broken format. */
export function edgeFaultReason({ kind }: EdgeFault): StageFaultReason {
  switch (kind) {
    case 'closed':
    case 'end-inside-object':
      return StageFaultReason.STAGE_FAULT_REASON_EDGE_CLOSED;
    case 'not-listening':
      return StageFaultReason.STAGE_FAULT_REASON_WORKER_START_FAILED;
    default:
      return StageFaultReason.STAGE_FAULT_REASON_EDGE_PROTOCOL;
  }
}
