import type { Database } from 'better-sqlite3';
import { TextAnswer } from '../../../gen/stageplane/v1/token_endpoint.js';
import type { RunId } from '../../core/ids.js';
import { limits } from '../../core/limits.js';
import type { RunAnswer } from '../../core/machine/state.js';

/** What ONE_SHOT runs answered: at most one answer per run, the newest. */
export function answerRows(db: Database) {
  const upsert = db.prepare<[bigint, Uint8Array]>(`
    INSERT INTO answers (run_id, answer) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET answer = excluded.answer`);
  const select = db.prepare<[bigint], Buffer>('SELECT answer FROM answers WHERE run_id = ?').pluck();

  return {
    put({ runId, answer }: RunAnswer): void {
      upsert.run(runId, TextAnswer.encode(answer).finish());
    },

    of(runId: RunId): TextAnswer | undefined {
      // Launchers may ask for any uint64; nothing is stored there.
      if (runId > limits.storedInteger) return undefined;
      const answer = select.get(runId);
      return answer && TextAnswer.decode(answer);
    },
  };
}
