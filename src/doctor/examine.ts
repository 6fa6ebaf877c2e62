import { limits } from '../core/limits.js';
import { type Check, type Finding, failed, type Subject } from './check.js';
import { checks } from './checks.js';

export interface Examined {
  readonly name: string;
  readonly finding: Finding;
}

/** Looks at everything that concerns a role, one after another. Never rejects. */
export async function examine(subject: Subject, list: readonly Check[] = checks): Promise<Examined[]> {
  const examined: Examined[] = [];
  for (const check of list.filter(({ roles }) => roles.includes(subject.role))) {
    examined.push({ name: check.name, finding: await lookInTime(check, subject) });
  }
  return examined;
}

/** A dead mount answers never, and the other lines are wanted all the same. */
async function lookInTime(check: Check, subject: Subject): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    const seconds = limits.doctorMillis / 1000;
    const finding = failed(`no answer within ${seconds} s`, 'see whether a disk or a network share hangs');
    timer = setTimeout(() => resolve(finding), limits.doctorMillis);
  });
  const look = async () => check.look(subject);
  const finding = await Promise.race([look().catch(unexpected), late]);
  clearTimeout(timer);
  return finding;
}

function unexpected(error: unknown): Finding {
  const { message } = error instanceof Error ? error : new Error(String(error));
  return failed(`it could not be looked at (${message})`, 'mend what the message names, then look again');
}
