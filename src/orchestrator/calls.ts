import type { Answer } from '../core/machine/effects.js';
import type { CallId } from '../core/machine/events.js';
import type { RpcError } from '../grpc/rpc-error.js';

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: RpcError) => void;
}

/** Callers that wait for their turn's commit. */
export class Calls {
  private readonly waiting = new Map<CallId, Waiting>();
  private next = 1;

  /** `answer` settles with the caller's turn: with what the machine answers, or with why it did not happen. */
  open(): { call: CallId; answer: Promise<Answer> } {
    const call = this.next++;
    const answer = new Promise<Answer>((resolve, reject) => this.waiting.set(call, { resolve, reject }));
    return { call, answer };
  }

  answer(call: CallId, answer: Answer): void {
    this.take(call)?.resolve(answer);
  }

  fail(call: CallId, error: RpcError): void {
    this.take(call)?.reject(error);
  }

  failAll(error: RpcError): void {
    for (const call of [...this.waiting.keys()]) this.fail(call, error);
  }

  private take(call: CallId): Waiting | undefined {
    const waiting = this.waiting.get(call);
    this.waiting.delete(call);
    return waiting;
  }
}
